-- One more subscription of a session, unless it has too many; counted and written in one step.
-- KEYS: 1 the session's hash    ARGV: 1 the field, 2 most subscriptions, 3 how long the hash is kept, in ms
-- Returns 1 when it is subscribed now, 0 when it has too many
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  local held = redis.call('HLEN', KEYS[1]) - redis.call('HEXISTS', KEYS[1], 'level') - redis.call('HEXISTS', KEYS[1], 'stream')
  if held >= tonumber(ARGV[2]) then return 0 end
  redis.call('HSET', KEYS[1], ARGV[1], '')
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
