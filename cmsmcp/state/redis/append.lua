-- One more event of a stream; the oldest go when there are too many, or too many bytes. An event whose data is not kept is a gap,
-- and what came before it is of no use any more.
-- KEYS: 1 the stream    ARGV: 1 number, 2 data, 3 kind ('', 'last', 'gap'), 4 most events, 5 most bytes, 6 how long it is kept, in ms
-- Fields: kind, data, and sum: all bytes from the stream's beginning to this event
local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local function field(entry, name)
  for i = 1, #entry[2], 2 do
    if entry[2][i] == name then return entry[2][i + 1] end
  end
end
if newest and tonumber(string.match(newest[1], '^%d+')) >= tonumber(ARGV[1]) then return 0 end
local sum = #ARGV[2] + (newest and tonumber(field(newest, 'sum')) or 0)
redis.call('XADD', KEYS[1], ARGV[1] .. '-0', 'kind', ARGV[3], 'sum', string.format('%.0f', sum), 'data', ARGV[2])
redis.call('XTRIM', KEYS[1], 'MAXLEN', ARGV[3] == 'gap' and 1 or ARGV[4])
while true do
  local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 2)
  if sum - tonumber(field(oldest[1], 'sum')) + #field(oldest[1], 'data') <= tonumber(ARGV[5]) then break end
  redis.call('XTRIM', KEYS[1], 'MINID', oldest[2][1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return 1
