-- The line protocol of README.md, for a program that runs Lua. `triptych pktgen` writes settings before it, and the
-- program's own commands after it:
--   TRIPTYCH = { frame_size = bytes without CRC, flows = UDP flows per port, ports = number of ports }

local CRC = 4
local FIRST_UDP_PORT = 1024 -- each flow has its own source port

local function answer(text)
    -- The program prints to the same output, so begin a new line.
    io.stdout:write("\ntriptych: " .. text .. "\n")
    io.stdout:flush()
end

-- What `word` returns for each port.
local function each(word)
    local words = {}
    for port = 0, TRIPTYCH.ports - 1 do
        words[#words + 1] = word(port)
    end
    return table.concat(words, " ")
end

-- A table `program` has the functions up(port), size(bytes), rate(percent), start(), stop() and counters(port).
local function commands_of(program)
    return {
        links = function()
            return "links " .. each(function(port) return program.up(port) and "up" or "down" end)
        end,
        size = function(argument)
            program.size(tonumber(argument))
            return "size " .. argument
        end,
        rate = function(argument)
            program.rate(tonumber(argument))
            return "rate " .. argument
        end,
        start = function()
            program.start()
            return "started"
        end,
        stop = function()
            program.stop()
            return "stopped"
        end,
        counters = function()
            return "counters " .. each(function(port) return string.format("%d %d", program.counters(port)) end)
        end,
    }
end

-- Serves commands from standard input, one per line, until its end. `set_up` returns the number of ports and a version.
local function serve(set_up, program)
    local function run()
        local ports, version = set_up()
        answer("ready " .. ports .. " " .. version)
        local commands = commands_of(program)
        for line in io.stdin:lines() do
            local name, argument = line:match("^(%S+)%s*(%S*)")
            if name == "quit" then
                break
            elseif commands[name] then
                local fine, said = pcall(commands[name], argument)
                answer(fine and said or "error " .. tostring(said))
            elseif name then
                answer("error unknown command " .. name)
            end
        end
        program.stop()
    end
    local fine, said = pcall(run)
    if not fine then
        answer("error " .. tostring(said))
    end
end

