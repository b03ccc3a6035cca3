-- For wrk: sends the bodies of the file BODIES, a line each, from line START on, round and round. Prints one line of JSON; `bad` counts
-- replies that are not 200 or hold an error: a run with any of them measures nothing.
local bodies, at = {}, tonumber(os.getenv("START") or "0")
for line in io.lines(os.getenv("BODIES")) do table.insert(bodies, line) end
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
wrk.headers["MCP-Protocol-Version"] = "2026-07-28"
wrk.headers["Mcp-Method"] = "tools/call"
wrk.headers["Mcp-Name"] = os.getenv("TOOL")
wrk.headers["Authorization"] = "Bearer " .. os.getenv("TOKEN")

function request()
  local body = bodies[at % #bodies + 1]
  at = at + 1
  return wrk.format(nil, nil, nil, body)
end

function response(status, headers, body)
  local whole = string.find(body, '"result"', 1, true) and not string.find(body, '"isError":true', 1, true)
  if status ~= 200 or not whole then bad = (bad or 0) + 1 end
end

local threads = {}
function setup(thread) table.insert(threads, thread) end

function done(summary, latency)
  local bad = 0
  for _, thread in ipairs(threads) do bad = bad + (thread:get("bad") or 0) end
  local lost = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  io.write(string.format('{"requests": %d, "seconds": %.3f, "p50_ms": %.3f, "p99_ms": %.3f, "bad": %d}\n', summary.requests,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, bad + lost))
end
