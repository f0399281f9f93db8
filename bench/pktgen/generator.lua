-- Runs inside dpdk-pktgen (pktgen ... -f generator.lua) and executes commands from standard input, one per line.
-- README.md lists the commands and answers. `triptych pktgen` writes the settings in front of this script:
--   TRIPTYCH = { frame_size = bytes without CRC, flows = UDP flows per port, ports = number of ports }

local CRC = 4 -- dpdk-pktgen's sizes include it
local FIRST_UDP_PORT = 1024

local function answer(text)
    -- dpdk-pktgen draws on the screen, so begin a new line.
    io.stdout:write("\ntriptych: " .. text .. "\n")
    io.stdout:flush()
end

-- Sets a range to a constant value.
local function fixed(range, ports, value, step)
    range(ports, "start", value)
    range(ports, "inc", step)
    range(ports, "min", value)
    range(ports, "max", value)
end

local function set_size(size)
    pktgen.set("all", "size", size + CRC)
    fixed(pktgen.range.pkt_size, "all", size + CRC, 0)
end

-- Sets up UDP frames; each flow has its own source port.
local function set_up(settings)
    pktgen.screen("off")
    pktgen.stop("all")
    pktgen.clr()
    pktgen.set("all", "count", 0) -- unlimited
    pktgen.set("all", "burst", 32)
    pktgen.set("all", "rate", 100)
    pktgen.range.ip_proto("all", "udp")
    set_size(settings.frame_size)
    for port = 0, settings.ports - 1 do
        local ports = tostring(port)
        -- Addresses for benchmarks, RFC 2544.
        fixed(pktgen.range.src_ip, ports, "198.18." .. port .. ".1", "0.0.0.0")
        fixed(pktgen.range.dst_ip, ports, "198.19." .. port .. ".1", "0.0.0.0")
        fixed(pktgen.range.dst_port, ports, 9, 0) -- discard
        pktgen.range.src_port(ports, "start", FIRST_UDP_PORT)
        pktgen.range.src_port(ports, "inc", 1)
        pktgen.range.src_port(ports, "min", FIRST_UDP_PORT)
        pktgen.range.src_port(ports, "max", FIRST_UDP_PORT + settings.flows - 1)
    end
    pktgen.set_range("all", "on")
end

-- Whether each port has a link. dpdk-pktgen shows <UP-10000-FD> or <--Down-->.
local function links(settings)
    local states = pktgen.linkState("all")
    local words = {}
    for port = 0, settings.ports - 1 do
        words[#words + 1] = tostring(states[port]):find("UP") and "up" or "down"
    end
    return table.concat(words, " ")
end

local function counters(settings)
    local stats = pktgen.portStats("all", "port")
    local words = {}
    for port = 0, settings.ports - 1 do
        local count = stats[port]
        words[#words + 1] = string.format("%d", count.opackets)
        -- Missed packets have arrived, too. Older versions do not count them.
        words[#words + 1] = string.format("%d", count.ipackets + (count.imissed or 0))
    end
    return table.concat(words, " ")
end

local commands = {
    links = function(settings)
        return "links " .. links(settings)
    end,
    size = function(_, argument)
        set_size(assert(tonumber(argument), "not a size"))
        return "size " .. argument
    end,
    rate = function(_, argument)
        local percent = tonumber(argument)
        if not percent or percent <= 0 or percent > 100 then
            error("not a share of the line rate: " .. tostring(argument), 0)
        end
        pktgen.set("all", "rate", percent)
        return "rate " .. percent
    end,
    start = function()
        pktgen.start("all")
        return "started"
    end,
    stop = function()
        pktgen.stop("all")
        return "stopped"
    end,
    counters = function(settings)
        return "counters " .. counters(settings)
    end,
}

local function serve(settings)
    set_up(settings)
    answer("ready " .. pktgen.portCount() .. " " .. (pktgen.info.Pktgen_Version or "?"))
    for line in io.stdin:lines() do
        local name, argument = line:match("^(%S+)%s*(%S*)")
        if name == "quit" then
            break
        elseif commands[name] then
            local fine, said = pcall(commands[name], settings, argument)
            answer(fine and said or "error " .. tostring(said))
        elseif name then
            answer("error unknown command " .. name)
        end
    end
    pktgen.stop("all")
end

local fine, said = pcall(serve, TRIPTYCH)
if not fine then
    answer("error " .. tostring(said))
end
pktgen.quit()
