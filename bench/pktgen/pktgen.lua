-- Runs inside dpdk-pktgen (pktgen ... -f pktgen.lua), after protocol.lua.

-- Sets a range to constant values.
local function fixed(range, ports, value, step)
    range(ports, "start", value)
    range(ports, "inc", step)
    range(ports, "min", value)
    range(ports, "max", value)
end

local program = {
    -- dpdk-pktgen shows <UP-10000-FD> or <--Down-->.
    up = function(port) return tostring(pktgen.linkState("all")[port]):find("UP") end,
    size = function(size)
        pktgen.set("all", "size", size + CRC) -- its sizes include the CRC
        fixed(pktgen.range.pkt_size, "all", size + CRC, 0)
    end,
    rate = function(percent) pktgen.set("all", "rate", percent) end,
    start = function() pktgen.start("all") end,
    stop = function() pktgen.stop("all") end,
    counters = function(port)
        local count = pktgen.portStats("all", "port")[port]
        -- Missed packets have arrived, too. Older versions do not count them.
        return count.opackets, count.ipackets + (count.imissed or 0)
    end,
}

local function set_up()
    pktgen.screen("off")
    pktgen.stop("all")
    pktgen.clr()
    pktgen.set("all", "count", 0) -- unlimited
    pktgen.set("all", "burst", 32)
    pktgen.set("all", "rate", 100)
    pktgen.range.ip_proto("all", "udp")
    program.size(TRIPTYCH.frame_size)
    for port = 0, TRIPTYCH.ports - 1 do
        local ports = tostring(port)
        -- Addresses for benchmarks, RFC 2544.
        fixed(pktgen.range.src_ip, ports, "198.18." .. port .. ".1", "0.0.0.0")
        fixed(pktgen.range.dst_ip, ports, "198.19." .. port .. ".1", "0.0.0.0")
        fixed(pktgen.range.dst_port, ports, 9, 0) -- discard
        fixed(pktgen.range.src_port, ports, FIRST_UDP_PORT, 1)
        pktgen.range.src_port(ports, "max", FIRST_UDP_PORT + TRIPTYCH.flows - 1)
    end
    pktgen.set_range("all", "on")
    return pktgen.portCount(), pktgen.info.Pktgen_Version or "?"
end

serve(set_up, program)
pktgen.quit()
