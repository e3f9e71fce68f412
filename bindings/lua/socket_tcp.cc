// SPDX-License-Identifier: MIT
// socket.tcp, tcp4 and tcp6, and the methods of what they make.
#include <sys/socket.h>

#include "bindings/lua/socket_address.h"
#include "bindings/lua/socket_connect.h"
#include "bindings/lua/socket_core.h"
#include "bindings/lua/socket_error.h"
#include "bindings/lua/socket_object.h"
#include "bindings/lua/socket_options.h"
#include "bindings/lua/socket_stream.h"

namespace shoal::bindings {

namespace {

const luaL_Reg kMethods[] = {{"accept", OfClass<kTcpClasses, kServer, AcceptAs<kTcpClasses>>},
                             {"bind", OfClass<kTcpClasses, kMaster, BindAs<SOCK_STREAM>>},
                             {"close", OfAny<kTcpClasses, Close>},
                             {"connect", OfAny<kTcpClasses, ConnectTcp>},
                             {"dirty", OfAny<kTcpClasses, IsDirty>},
                             {"getfamily", OfAny<kTcpClasses, GetFamily>},
                             {"getfd", OfAny<kTcpClasses, GetFd>},
                             {"getoption", OfAny<kTcpClasses, GetTcpOption>},
                             {"getpeername", OfAny<kTcpClasses, GetPeerName>},
                             {"getsockname", OfAny<kTcpClasses, GetSockName>},
                             {"getstats", OfClass<kTcpClasses, kClient, GetStats>},
                             {"gettimeout", OfAny<kTcpClasses, GetTimeout>},
                             {"listen", OfClass<kTcpClasses, kMaster, ListenAs<kTcpClasses>>},
                             {"receive", OfClass<kTcpClasses, kClient, Receive>},
                             {"send", OfClass<kTcpClasses, kClient, Send>},
                             {"setfd", OfAny<kTcpClasses, SetFd>},
                             {"setoption", OfAny<kTcpClasses, SetTcpOption>},
                             {"setpeername", OfAny<kTcpClasses, ConnectTcp>},
                             {"setsockname", OfClass<kTcpClasses, kMaster, BindAs<SOCK_STREAM>>},
                             {"setstats", OfClass<kTcpClasses, kClient, SetStats>},
                             {"settimeout", OfAny<kTcpClasses, SetTimeout>},
                             {"shutdown", OfClass<kTcpClasses, kClient, Shutdown>},
                             {nullptr, nullptr}};

}  // namespace

const SocketClass kTcpClasses[3] = {{"tcp{master}", "tcp{any}", kMethods},
                                    {"tcp{client}", "tcp{any}", kMethods},
                                    {"tcp{server}", "tcp{any}", kMethods}};

template <int kFamily>
int NewTcp(lua_State* L) {
  Socket& socket = PushSocket(L, kTcpClasses[kMaster], kFamily);
  if (kFamily == AF_UNSPEC) return 1;  // it gets a descriptor when its family is known
  const int error = OpenSocket(socket, kFamily, SOCK_STREAM);
  return error == 0 ? 1 : PushSocketError(L, SocketError(error));
}

void OpenTcp(lua_State* L) {
  static const luaL_Reg kFunctions[] = {{"tcp", NewTcp<AF_UNSPEC>},
                                        {"tcp4", NewTcp<AF_INET>},
                                        {"tcp6", NewTcp<AF_INET6>},
                                        {"connect", ConnectNew},
                                        {nullptr, nullptr}};
  MakeSocketClasses(L, kTcpClasses, std::size(kTcpClasses));
  luaL_setfuncs(L, kFunctions, 0);
}

}  // namespace shoal::bindings
