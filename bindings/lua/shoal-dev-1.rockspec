-- SPDX-License-Identifier: MIT
-- In a checkout: luarocks --lua-version 5.4 make bindings/lua/shoal-dev-1.rockspec
rockspec_format = "3.0"
package = "shoal"
version = "dev-1"
source = { url = "git+file://." }
description = {
  summary = "Light processes on all cores, with channels, tasks and sockets that wait",
  license = "MIT",
}
supported_platforms = { "linux" }
dependencies = { "lua ~> 5.4" }
build = {
  type = "command",
  build_command = "./dev build //bindings/cli:shoal //bindings/lua:shoal.so",
  install_command = "BINDIR='$(BINDIR)' LUA_LIBDIR='$(LIBDIR)' LUA_SHAREDIR='$(LUADIR)' ./dev install '$(PREFIX)'",
}
