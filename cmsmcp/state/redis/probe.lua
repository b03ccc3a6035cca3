-- Every command that serving needs, each tried on keys of its own that go by themselves; those that take memory first, because a full
-- Redis lets all pass once one has.
-- KEYS: 1 a string, 2 a hash, 3 a sorted set, 4 a stream    ARGV: 1 how long they are kept, in ms, 2 epoch second at which they go at last
-- Returns names and errors in turn: of the commands that were refused
local text, hash, set, stream = unpack(KEYS)
local steps = {
  {'SET', text, ''}, {'HSET', hash, 'a', ''}, {'HSETNX', hash, 'a', ''}, {'ZADD', set, 1, 'a'}, {'XADD', stream, '*', 'a', ''},
  {'PEXPIRE', text, ARGV[1]}, {'PEXPIRE', hash, ARGV[1]}, {'PEXPIRE', set, ARGV[1]}, {'PEXPIRE', stream, ARGV[1]},
  {'EXPIREAT', text, ARGV[2], 'LT'}, {'PEXPIREAT', hash, ARGV[2] .. '000', 'LT'}, {'TIME'},
  {'GET', text}, {'HGET', hash, 'a'}, {'HMGET', hash, 'a'}, {'HGETALL', hash}, {'HKEYS', hash}, {'HEXISTS', hash, 'a'}, {'HLEN', hash},
  {'ZCOUNT', set, '-inf', '+inf'}, {'ZSCORE', set, 'a'}, {'ZRANGE', set, 0, 0}, {'XRANGE', stream, '-', '+', 'COUNT', 1},
  {'XREVRANGE', stream, '+', '-', 'COUNT', 1}, {'XREAD', 'COUNT', 1, 'STREAMS', stream, 0}, {'XTRIM', stream, 'MAXLEN', 1},
  {'GETDEL', text}, {'HDEL', hash, 'a'}, {'ZREM', set, 'a'}, {'ZREMRANGEBYSCORE', set, '-inf', '+inf'},
}
local refused = {}
for _, step in ipairs(steps) do
  local reply = redis.pcall(unpack(step))
  if type(reply) == 'table' and reply.err then
    refused[#refused + 1] = step[1]
    refused[#refused + 1] = reply.err
  end
end
return refused
