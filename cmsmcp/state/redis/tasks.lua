-- One step in the life of a task, on Redis's clock. A task whose process is silent has failed before anything else is looked at.
-- KEYS: 1 the task (a hash), 2 those that run (member: id, score: when silence means death, in ms),
--       for `create` also 3 those kept, 4 those kept of its client (score: when the record goes)
-- ARGV: 1 the step, 2 the id, 3 ms of silence, then what each step says. In the hash q:<key> is a question that waits, a:<key> an answer.
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local step, id, silence = ARGV[1], ARGV[2], tonumber(ARGV[3])
local task, running = KEYS[1], KEYS[2]
local function whole(number) return string.format('%.0f', number) end
local function count(key) return redis.call('ZCOUNT', key, '(' .. whole(now), '+inf') end

local function hear()
  redis.call('ZADD', running, whole(now + silence), id)
  redis.call('PEXPIRE', running, whole(silence + 86400000))
end

if step == 'create' then
  -- 4 ttl in ms, 5 most of a client, 6 most of the site, 7 most at work, then fields
  local gone = now + tonumber(ARGV[4])
  if redis.call('HEXISTS', task, 'status') == 1 then return false end -- asked again, because the answer was lost
  if count(KEYS[4]) >= tonumber(ARGV[5]) then return 'client' end
  if count(KEYS[3]) >= tonumber(ARGV[6]) then return 'site' end
  if count(running) >= tonumber(ARGV[7]) then return 'running' end
  redis.call('HSET', task, 'status', 'working', 'created', whole(now), 'updated', whole(now), 'ttl', ARGV[4], unpack(ARGV, 8))
  redis.call('PEXPIREAT', task, whole(gone))
  hear()
  for _, kept in ipairs({KEYS[3], KEYS[4]}) do
    redis.call('ZADD', kept, whole(gone), id)
    redis.call('ZREMRANGEBYSCORE', kept, '-inf', whole(now))
    redis.call('PEXPIREAT', kept, whole(gone), 'NX')
    redis.call('PEXPIREAT', kept, whole(gone), 'GT')
  end
  return false
end

local function names(prefix)
  local found = {}
  for _, name in ipairs(redis.call('HKEYS', task)) do
    if string.sub(name, 1, 2) == prefix then found[#found + 1] = name end
  end
  return found
end

local function keep(...) redis.call('HSET', task, 'updated', whole(now), ...) end

local function finish(...)
  keep(...)
  for _, prefix in ipairs({'q:', 'a:'}) do
    local gone = names(prefix)
    if #gone > 0 then redis.call('HDEL', task, unpack(gone)) end
  end
  redis.call('ZREM', running, id)
  return 1
end

local status = redis.call('HGET', task, 'status')
if not status then redis.call('ZREM', running, id) end
local live = status == 'working' or status == 'input_required'
if live and tonumber(redis.call('ZSCORE', running, id) or 0) <= now then
  finish('status', 'failed', 'message', '')
  status, live = 'failed', false
end

if step == 'read' then return redis.call('HGETALL', task) end
if step == 'beat' then
  if live then hear() end
  return status
end
if not live then return 0 end
if step == 'end' then return finish(unpack(ARGV, 4)) end
if step == 'note' then
  if status ~= 'working' then return 0 end
  keep('message', ARGV[4])
  return 1
end
if step == 'ask' then
  for at = 4, #ARGV, 2 do
    if redis.call('HEXISTS', task, 'q:' .. ARGV[at]) + redis.call('HEXISTS', task, 'a:' .. ARGV[at]) > 0 then return 0 end
  end
  keep('status', 'input_required')
  for at = 4, #ARGV, 2 do redis.call('HSET', task, 'q:' .. ARGV[at], ARGV[at + 1]) end
  return 1
end
if step == 'answer' then
  local taken = 0
  for at = 4, #ARGV, 2 do
    if redis.call('HDEL', task, 'q:' .. ARGV[at]) == 1 then
      redis.call('HSET', task, 'a:' .. ARGV[at], ARGV[at + 1])
      taken = 1
    end
  end
  if taken == 1 then keep('status', #names('q:') == 0 and 'working' or 'input_required') end
  return taken
end
if step == 'answers' then
  local found = {}
  for _, name in ipairs(names('a:')) do
    found[#found + 1] = string.sub(name, 3)
    found[#found + 1] = redis.call('HGET', task, name)
  end
  return found
end
return redis.error_reply('ERR no such step')
