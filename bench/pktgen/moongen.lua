-- Runs inside MoonGen (MoonGen moongen.lua --dpdk-config=FILE), after protocol.lua. MoonGen loads the file once in the
-- master and once in each task, so it must not act at the top level.

local moongen = require "moongen"
local device = require "device"
local memory = require "memory"
local namespaces = require "namespaces"

local GAP = 20 -- bytes on the wire: preamble, start byte and the gap between frames
local BATCH = 63
-- Bursts between two looks at the flag that ends a task; 256 bursts of 63 frames take 1 ms at line rate.
local LOOK = 256

-- What master and tasks share: `sending`.
local shared = namespaces:get("triptych")

-- Sends UDP frames until `shared.sending` is false.
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
    while moongen.running() and (shared.sending or bursts % LOOK > 0) do
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

local size, devices, tasks = TRIPTYCH.frame_size, {}, {}

local program = {
    up = function(port) return devices[port]:getLinkStatus().status end,
    size = function(bytes) size = bytes end,
    -- MoonGen's rate counts the bytes of a frame with CRC, but not the gap.
    rate = function(percent)
        for port, dev in pairs(devices) do
            local link = dev:getLinkStatus()
            if not link.status then
                error("port " .. port .. " has no link, so its rate cannot be limited", 0)
            end
            local frame = size + CRC
            local share = percent < 100 and percent / 100 * frame / (frame + GAP) or 1
            dev:getTxQueue(0):setRate(link.speed * share)
        end
    end,
    start = function()
        shared.sending = true
        for port, dev in pairs(devices) do
            tasks[#tasks + 1] = moongen.startTask("send", dev:getTxQueue(0), port, size, TRIPTYCH.flows)
        end
    end,
    stop = function()
        shared.sending = false
        for _, task in ipairs(tasks) do
            task:wait()
        end
        tasks = {}
    end,
    -- On ixgbe cards, both are counters of the card, and the second includes missed frames.
    counters = function(port) return (devices[port]:getTxStats()), (devices[port]:getRxStats()) end,
}

function master()
    serve(function()
        for port = 0, TRIPTYCH.ports - 1 do
            -- Nothing receives: the card counts frames that find no descriptor.
            devices[port] = device.config({ port = port, rxQueues = 1, txQueues = 1 })
        end
        shared.sending = false
        return TRIPTYCH.ports, "?"
    end, program)
end
