-- One governed request, decided in one step on Redis's clock: revocation, rate, permit, audit. Everything is checked first and
-- written last, so that a refusal by one limit charges no other. Arithmetic as in governance/limits.py: whole numbers below 2^53.
-- KEYS: 1 the client's debt, 2 permits of calls or of streams (member: event id, score: expiry in ms); where no permit is wanted, the
--       events admitted lately: whoever asks again because the answer was lost is charged once; 3 the token's record, 4 the audit
--       stream, 5 those of the permits that are the client's, with the same scores
-- ARGV: 1 requests per minute, 2 burst, 3 cost, 4 permit wanted (0, 1 for a call, 2 for a stream), 5 most permits, 6 lease in ms, 7 event id,
--       8 the token must be on record (0/1), 9 how many strings of intent follow, 10 most permits of the client (0: as many as there are),
--       then the intent's names and values, then the refusal's
-- Returns {reason: 0 admitted, 1 rate, 2 concurrency, 3 revoked, 4 streams, 5 concurrency of the client; retry after ms; units left;
--          epoch ms at which the debt is paid}
local UNIT = 60000000
local DAY_MS = 86400000
local function whole(number) return string.format('%.0f', number) end

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local now_ms = math.floor(now / 1000)
local rpm, ceiling, cost = tonumber(ARGV[1]), tonumber(ARGV[2]) * UNIT, tonumber(ARGV[3]) * UNIT
local event, intents, own = ARGV[7], tonumber(ARGV[9]), tonumber(ARGV[10])

local function append(from, to, ...)
  if to < from then return end
  local record = {unpack(ARGV, from, to)}
  for _, extra in ipairs({...}) do record[#record + 1] = extra end
  redis.call('XADD', KEYS[4], '*', unpack(record))
end

local debt = 0
local state = redis.call('GET', KEYS[1])
if state then
  local points, at = string.match(state, '^(%d+) (%d+)$')
  debt = math.min(tonumber(points), ceiling)
  local elapsed = math.max(0, now - tonumber(at))
  -- whoever has waited long enough owes nothing; the product would pass 2^53
  if elapsed >= debt / rpm then debt = 0 else debt = debt - elapsed * rpm end
end
local left = math.floor((ceiling - debt) / UNIT)
local function paid_at(points) return math.ceil((now + math.ceil(points / rpm)) / 1000) end

-- what the caller is told: the codes of protocol/errors.py
local CODES = {rate = '4290', concurrency = '4291', streams = '5031', revoked = '4010'}
local function refuse(number, reason, retry_ms)
  append(11 + intents, #ARGV, 'reason', reason, 'code', CODES[reason])
  return {number, retry_ms, left, paid_at(debt)}
end

local token = redis.call('HMGET', KEYS[3], 'revoked', 'created', 'used')
-- a registry that was emptied must not give revoked tokens their rights back
if token[1] or (ARGV[8] == '1' and not token[2]) then return refuse(3, 'revoked', 0) end
if redis.call('ZSCORE', KEYS[2], event) then return {0, 0, left, paid_at(debt)} end
local wanted = debt + cost
if wanted > ceiling then return refuse(1, 'rate', math.ceil(math.ceil((wanted - ceiling) / rpm) / 1000)) end
local function held(key) return redis.call('ZCOUNT', key, '(' .. whole(now_ms), '+inf') end
if own > 0 and held(KEYS[5]) >= own then return refuse(5, 'concurrency', 1000) end
if ARGV[4] ~= '0' and held(KEYS[2]) >= tonumber(ARGV[5]) then
  if ARGV[4] == '2' then return refuse(4, 'streams', 5000) end
  return refuse(2, 'concurrency', 1000)
end

-- The first write decides whether a full Redis refuses: it must be one that takes memory, because after any other all are let through.
if cost > 0 then
  local ttl = math.ceil(wanted / rpm / 1000) + 1000
  redis.call('SET', KEYS[1], whole(wanted) .. ' ' .. whole(now), 'PX', whole(ttl))
end
local function hold(key)
  redis.call('ZADD', key, whole(now_ms + tonumber(ARGV[6])), event)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', whole(now_ms))
  redis.call('PEXPIRE', key, DAY_MS)
end
if ARGV[4] ~= '0' or cost > 0 or intents > 0 then hold(KEYS[2]) end
if own > 0 then hold(KEYS[5]) end
if token[2] and now_ms - 60000 > tonumber(token[3] or 0) * 1000 then redis.call('HSET', KEYS[3], 'used', clock[1]) end
append(11, 10 + intents)
return {0, 0, math.floor((ceiling - wanted) / UNIT), paid_at(wanted)}
