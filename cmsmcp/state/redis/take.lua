-- An answer, once; nothing while it is waited for.    KEYS: 1 its key
local answer = redis.call('GET', KEYS[1])
if not answer or answer == '' then return false end
return redis.call('GETDEL', KEYS[1])
