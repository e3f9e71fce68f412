-- SPDX-License-Identifier: MIT
-- luacheck: ignore
-- The string library: patterns, callbacks, format, pack, and utf8.

local function show(text, ...)
  print(text, ...)
end

-- find and match.
local PATTERNS = {
  { "hello world", "o" },
  { "hello world", "o w" },
  { "hello", "l+" },
  { "hello", "l-" },
  { "hello", "(l)(l)" },
  { "hello", "()ll()" },
  { "hello", "^h" },
  { "hello", "o$" },
  { "hello", "^hello$" },
  { "hello", "x" },
  { "", "" },
  { "", "x*" },
  { "abc", "" },
  { "key = value", "^(%w+)%s*=%s*(%w+)$" },
  { "  trim  ", "^%s*(.-)%s*$" },
  { "a.b.c", "%." },
  { "f(a(b)c)d", "%b()" },
  { "[[x]]", "%b[]" },
  { "THE (quick) fox", "%((%a+)%)" },
  { "hello world from Lua", "%f[%a]%a+%f[%A]" },
  { "THE (quick) fox", "%f[%a]%a+" },
  { "2026-11-30", "(%d+)-(%d+)-(%d+)" },
  { "abcabc", "(abc)%1" },
  { "abcabd", "(abc)%1" },
  { '"quoted"', "([\"'])(.-)%1" },
  { "x^2", "x^2" },
  { "a+b", "a%+b" },
  { "[x]", "[]]" },
  { "a-z", "[a%-z]+" },
  { "a]b", "[^]]" },
  { "0x1F", "^0[xX](%x+)$" },
  { "a\0b", "%z" },
  { "a\0b", "\0" },
  { "line1\nline2", "(.-)\n" },
  { "äö", "[\xc3][\xa4]" },
  { "aXb", "%u" },
  { "tab\there", "%c" },
  { "punct!", "%p" },
  { "mixed123", "%a+%d+" },
  { "ab", "a?b?c?" },
  { "aaa", "a-b" },
  { "aaab", "a-b" },
  { "aaa", "^(a-)$" },
  { "abc", "()" },
  { "%d", "%%d" },
  { "a,b,,c", "([^,]*)" },
  { "x", "." },
  { "alo", "[a-]" },
  { "alo", "[^a-]" },
}
for _, case in ipairs(PATTERNS) do
  local subject, pattern = case[1], case[2]
  show(("%q %q"):format(subject, pattern), subject:find(pattern))
  show("match", subject:match(pattern))
  for init = -2, 4, 3 do
    show("from " .. init, subject:find(pattern, init))
  end
  show("plain", subject:find(pattern, 1, true))
end
for _, pattern in ipairs({
  "[a",
  "[]",
  "%",
  "(",
  ")",
  "(()",
  "%1",
  "%b",
  "%f",
  "[%",
  "[^]",
  "(a)%2",
  "%bx",
}) do
  show(pattern, pcall(string.find, "abc", pattern))
  show(pattern, pcall(string.gsub, "abc", pattern, "x"))
end

-- gsub: strings, tables and functions.
show(("hello world"):gsub("o", "0"))
show(("hello world"):gsub("o", "0", 1))
show(("hello"):gsub("", "-"))
show(("hello world"):gsub("(%w+) (%w+)", "%2 %1"))
show(("abc"):gsub("%w", "%0%0"))
show(("abc"):gsub("%w", "%%"))
show(("abc def"):gsub("%w+", { abc = "table", def = false }))
show(("$name is $age"):gsub("%$(%w+)", { name = "Lua", age = 30 }))
show(("abc"):gsub("(a)(b)(c)", function(...)
  return select("#", ...) .. table.concat({ ... })
end))
show(("abc"):gsub(".", function(c)
  if c == "b" then
    return nil
  end
  return c:upper()
end))
show(("abc"):gsub(".", function(c)
  return c == "b" and false or 5
end))
show(("4+5"):gsub("%d", function(d)
  return d * 2
end))
show(("x = 1"):gsub("(%w) = (%w)", "%2 = %1"))
show(("abc"):gsub("b", "%1"))
show(pcall(string.gsub, "abc", "b", "%2"))
show(pcall(string.gsub, "abc", "b", "%x"))
show(pcall(string.gsub, "abc", ".", function()
  return {}
end))
show(pcall(string.gsub, "abc", ".", function(c)
  error("at " .. c, 0)
end))
show(pcall(
  string.gsub,
  "abc",
  ".",
  setmetatable({}, {
    __index = function(_, c)
      error("index " .. c, 0)
    end,
  })
))
show(("abc"):gsub(
  ".",
  setmetatable({}, {
    __index = function(_, c)
      return c:byte()
    end,
  })
))
show(("one two"):gsub("(%w+)", function(w)
  return (w:gsub(".", function(c)
    return c .. c
  end))
end))
show(("abc"):gsub("$", "!"), (("abc"):gsub("^", "!")))
show(("a b c"):gsub(" ", "", -1))
show((("x"):rep(1000):gsub("x", function()
  return "yy"
end)):len())
do
  local depth = 0
  local function nest(s)
    depth = depth + 1
    local result = depth < 8 and s:gsub(".", nest, 1) or s
    depth = depth - 1
    return result .. depth
  end
  show(nest("a"))
end

-- gmatch.
for _, case in ipairs({
  { "one two three", "%a+" },
  { "k1=v1, k2=v2", "(%w+)=(%w+)" },
  { "abc", "" },
  { "a,b,,c", "([^,]*)" },
  { "2024-01-02", "%d+" },
  { "", "x*" },
  { "aXbXc", "()X" },
  { "abc", "^a" },
}) do
  for a, b in case[1]:gmatch(case[2]) do
    show("gmatch", a, b)
  end
end
for w in ("abcdef"):gmatch("..", 3) do
  show("gmatch from 3", w)
end
do
  local f = ("a b"):gmatch("%a")
  show(f(), f(), f(), f())
  for w in ("a b c"):gmatch("%a") do
    for v in ("1 2"):gmatch("%d") do
      show("nested", w, v)
    end
  end
end

-- format.
for _, case in ipairs({
  { "%d", 5 },
  { "%5d|%-5d|%05d", 1, 2, 3 },
  { "%+d % d", 5, 6 },
  { "%i", 3.0 },
  { "%x %X %#x", 255, 255, 255 },
  { "%o", 8 },
  { "%c%c", 72, 105 },
  { "%e", 12345.678 },
  { "%E", 0.001 },
  { "%f", 1.5 },
  { "%.3f", 2 / 3 },
  { "%10.2f|", 3.14159 },
  { "%g %g", 1e20, 0.1 },
  { "%G", 1e-10 },
  { "%a", 1 },
  { "%s", "x" },
  { "%10s|%-10s|", "a", "b" },
  { "%.2s", "abcdef" },
  { "%q", 'a\n"b"\0c\\' },
  { "%q", 1 / 3 },
  { "%q", 5 },
  { "%q", math.mininteger },
  { "%q", 1 / 0 },
  { "%q", 0 / 0 },
  { "%q", nil },
  { "%q", true },
  { "%%" },
  { "%s %s %s", nil, true, 12 },
  { "%d", "10" },
  { "%s", setmetatable({}, {
    __tostring = function()
      return "object"
    end,
  }) },
  { "%5s|", true },
  { "%.14g", 0.1 },
  { "%.99f", 1 / 3 },
  { "%d", -0 },
  { "%5.1f", -0.05 },
  { "%.0f", 0.5 },
  { "%.20s", ("x"):rep(30) },
  { "%u", 3 },
  { "%p", 1 },
  { "%d", 1.5 },
  { "%d", "1.5" },
  { "%d", {} },
  { "%q", {} },
  { "%10q", "x" },
  { "%c", "x" },
  { "%123d", 1 },
  { "%s" },
  { "%", 1 },
  { "%y", 1 },
  { "%-#0+ 5d", 1 },
  { "%.123f", 1 },
  { "%x", -1 },
  { "%x", 1.5 },
  { "%a", 0.5 },
}) do
  show(
    case[1],
    pcall(string.format, table.unpack(case, 1, case[1]:find("nil") and 4 or math.max(#case, 1)))
  )
end
show(("%s %d"):rep(3, ","):format("a", 1, "b", 2, "c", 3))

-- The rest.
for i = -4, 4 do
  show(
    "sub",
    i,
    ("abc"):sub(i),
    ("abc"):sub(i, 2),
    ("abc"):sub(i, -2),
    ("abc"):byte(i),
    ("abc"):byte(i, -1)
  )
end
for n = -1, 4 do
  show("rep", n, ("ab"):rep(n), ("ab"):rep(n, "-"))
end
show(("Mixed Case"):upper(), ("Mixed Case"):lower(), ("abc"):reverse(), ("abc"):len(), #"a\0b")
show(string.char(), string.char(72, 101), ("x"):byte(10))
show("a" < "b", "a" < "B", "a\0b" < "a\0c", "" < "a", "abc" < "abcd", "Z" < "a", "10" < "9")
show(
  tostring(12),
  tostring(1.0),
  tostring(-0.0),
  tostring(1e15),
  tostring(1e16),
  tostring(2 ^ 53),
  tostring(1e100)
)
show(1e15, 123456789012345678, 0.1, 1 / 3, -1e-7, 100 // 1e-3, 2 ^ 63, -(2 ^ 63))
show(("a"):rep(3) .. 1 .. 2.0 .. "z", 1 .. "", 1.5 .. "|")
show(
  [[
long
string]],
  [==[with ]] inside]==],
  "\65\066\x43\u{44}\z
      E",
  "single's",
  'tab\tq"'
)
show(#"\u{7FFFFFFF}", "\u{20AC}", ("\u{20AC}"):byte(1, -1))

-- pack and unpack.
for _, case in ipairs({
  { "b", -5 },
  { "B", 200 },
  { "h", -300 },
  { "<i4", 100000 },
  { ">i4", 100000 },
  { "<i3", -2 },
  { "j", 1 << 40 },
  { "<d", 1.5 },
  { "<f", 0.25 },
  { "<n", -1.5 },
  { "z", "zero" },
  { "s1", "len" },
  { "<s4", "abc" },
  { "c5", "fixed" },
  { "c8", "pad" },
  { "<i2 >i2 =i2", 1, 1, 1 },
  { "<!4 b i4", 1, 2 },
  { "<!8 b d", 1, 2 },
  { "b x b", 1, 2 },
  { "<b Xi4 i4", 1, 2 },
  { "<i16", -1 },
  { "<I8", -1 },
  { "bz", 1, "x" },
  { "<T", 5 },
  { "<l", 7 },
}) do
  local ok, packed = pcall(string.pack, table.unpack(case))
  show(case[1], ok, ok and (packed:gsub(".", function(c)
    return ("%02x"):format(c:byte())
  end)) or packed)
  if ok then
    show("unpacked", pcall(string.unpack, case[1], packed))
    show("short", pcall(string.unpack, case[1], packed:sub(1, -2)))
    show("size", pcall(string.packsize, case[1]))
  end
end
for _, case in ipairs({
  { "b", 128 },
  { "B", -1 },
  { "i17", 1 },
  { "i0", 1 },
  { "c2", "abc" },
  { "z", "a\0" },
  { "s1", ("x"):rep(300) },
  { "q", 1 },
  { "!3 i4", 1 },
  { "Xz" },
  { "c", "x" },
  { "d", "x" },
  { "i4" },
  { "X" },
}) do
  show(case[1], pcall(string.pack, table.unpack(case)))
end
show(string.unpack("<i2", "\1\2\3\4", 3))
show(pcall(string.unpack, "<i2", "\1\2", 9))
show(string.unpack("z z", "ab\0cd\0"))

-- utf8.
show(utf8.char(72, 228, 8364, 128512), utf8.charpattern)
for _, s in ipairs({ "abc", "äöü", "€", "\u{1F600}!", "", "a\xffb", "\xc3", "\u{D7FF}" }) do
  show(("%q"):format(s), utf8.len(s))
  show("codepoint", pcall(utf8.codepoint, s, 1, -1))
  for i = -2, 3 do
    show("offset", i, pcall(utf8.offset, s, i))
  end
  show(
    "codes",
    pcall(function()
      for p, c in utf8.codes(s) do
        print("", p, c)
      end
    end)
  )
end
show(utf8.len("äöü", 2), utf8.len("äöü", 1, 2), utf8.len("äöü", -2))
show(pcall(utf8.len, "abc", 6))
show(utf8.len("\u{7FFFFFFF}", 1, -1, true), utf8.len("\u{7FFFFFFF}"))
show(string.rep("=", 3), ("x"):rep(0), (""):rep(100))
show(#string.dump(function()
  return 1
end) > 20, pcall(string.dump, print))
show(load(string.dump(function(a, b)
  return a + b
end))(3, 4))
show(load(string.dump(function()
  return _ENV
end, true))() == _G)
show(string.format("%-10.3s|", "abcdef"), ("%3d|%-3d|"):format(1234, 5678))
show(tostring(nil), tostring(true), #tostring(print) > 10)
