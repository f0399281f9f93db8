-- Runs inside MoonGen (MoonGen moongen.lua --dpdk-config=FILE) and executes commands from standard input, one per line.
-- README.md lists the commands and answers. `triptych pktgen` writes the settings in front of this script:
--   TRIPTYCH = { frame_size = bytes without CRC, flows = UDP flows per port, ports = number of ports }
-- MoonGen loads this file once in the master and once in each task, so it must not act at the top level.

local moongen = require "moongen"
local device = require "device"
local memory = require "memory"
local namespaces = require "namespaces"

local CRC, GAP = 4, 20 -- bytes on the wire: the gap holds preamble, start byte and inter-frame gap
local BATCH = 63
local FIRST_UDP_PORT = 1024
-- Bursts between two looks at the flag that ends a task; 256 bursts of 63 frames take 1 ms at line rate.
local LOOK = 256

-- What master and tasks share: `sending`.
local shared = namespaces:get("triptych")

local function answer(text)
    -- MoonGen writes its log to the same output, so begin a new line.
    io.stdout:write("\ntriptych: " .. text .. "\n")
    io.stdout:flush()
end

-- Sends UDP frames until `shared.sending` is false; each flow has its own source port.
function send(queue, port, size, flows)
    local pool = memory.createMemPool(function(buffer)
        buffer:getUdpPacket():fill({
            ethSrc = queue,
            -- A locally administered address; the forwarder is promiscuous.
            ethDst = "02:00:00:00:00:01",
            -- Addresses for benchmarks, RFC 2544.
            ip4Src = "198.18." .. port .. ".1",
            ip4Dst = "198.19." .. port .. ".1",
            udpDst = 9, -- discard
            pktLength = size,
        })
    end)
    local buffers = pool:bufArray(BATCH)
    local flow, bursts = 0, 0
    while moongen.running() do
        if bursts % LOOK == 0 and not shared.sending then
            return
        end
        bursts = bursts + 1
        buffers:alloc(size)
        for _, buffer in ipairs(buffers) do
            buffer:getUdpPacket().udp:setSrcPort(FIRST_UDP_PORT + flow)
            flow = flow + 1 < flows and flow + 1 or 0
        end
        buffers:offloadIPChecksums()
        queue:send(buffers)
    end
end

-- The state of the master: settings, devices and running tasks.
local function set_up(settings)
    local state = { size = settings.frame_size, flows = settings.flows, percent = 100, devices = {}, tasks = {} }
    for port = 0, settings.ports - 1 do
        -- Nothing receives: the card counts frames that find no descriptor.
        state.devices[port] = device.config({ port = port, rxQueues = 1, txQueues = 1 })
    end
    shared.sending = false
    return state
end

local function each(state, take)
    local words = {}
    for port = 0, #state.devices do
        words[#words + 1] = take(state.devices[port])
    end
    return table.concat(words, " ")
end

local function stop(state)
    shared.sending = false
    for _, task in ipairs(state.tasks) do
        task:wait()
    end
    state.tasks = {}
end

-- Limits the rate of each port. MoonGen's rate counts the bytes of a frame with CRC, but not the gap.
local function limit(state)
    for port = 0, #state.devices do
        local link = state.devices[port]:getLinkStatus()
        if not link.status then
            error("port " .. port .. " has no link, so its rate cannot be limited", 0)
        end
        local frame = state.size + CRC
        local share = state.percent < 100 and state.percent / 100 * frame / (frame + GAP) or 1
        state.devices[port]:getTxQueue(0):setRate(link.speed * share)
    end
end

local commands = {
    links = function(state)
        return "links " .. each(state, function(dev) return dev:getLinkStatus().status and "up" or "down" end)
    end,
    size = function(state, argument)
        state.size = assert(tonumber(argument), "not a size")
        return "size " .. state.size
    end,
    rate = function(state, argument)
        local percent = tonumber(argument)
        if not percent or percent <= 0 or percent > 100 then
            error("not a share of the line rate: " .. tostring(argument), 0)
        end
        state.percent = percent
        limit(state)
        return "rate " .. percent
    end,
    start = function(state)
        shared.sending = true
        for port = 0, #state.devices do
            local queue = state.devices[port]:getTxQueue(0)
            state.tasks[#state.tasks + 1] = moongen.startTask("send", queue, port, state.size, state.flows)
        end
        return "started"
    end,
    stop = function(state)
        stop(state)
        return "stopped"
    end,
    counters = function(state)
        return "counters " .. each(state, function(dev)
            -- On ixgbe cards, both are counters of the card, and the second includes missed frames.
            return string.format("%d %d", (dev:getTxStats()), (dev:getRxStats()))
        end)
    end,
}

local function serve(settings)
    local state = set_up(settings)
    answer("ready " .. #state.devices + 1 .. " ?")
    for line in io.stdin:lines() do
        local name, argument = line:match("^(%S+)%s*(%S*)")
        if name == "quit" then
            break
        elseif commands[name] then
            local fine, said = pcall(commands[name], state, argument)
            answer(fine and said or "error " .. tostring(said))
        elseif name then
            answer("error unknown command " .. name)
        end
    end
    stop(state)
end

function master()
    local fine, said = pcall(serve, TRIPTYCH)
    if not fine then
        answer("error " .. tostring(said))
    end
end
