# SPDX-License-Identifier: MIT
"""External repositories made from what Debian 12 installs, so that a build never needs the network.

Three kinds: the libraries that Shoal uses, a second C++ toolchain (clang), and the rule sets that
Bazel itself asks for.
"""

load("@bazel_tools//tools/cpp:lib_cc_configure.bzl", "get_cpu_value")
load("@bazel_tools//tools/cpp:unix_cc_configure.bzl", "configure_unix_toolchain")

def _apt_hint(what, package):
    return "\n\n%s not found. Install it:\n    sudo apt-get install %s\n" % (what, package)

# Libraries ----------------------------------------------------------------------------------------

_LIBRARY_BUILD = """\
cc_library(
    name = "headers",
    hdrs = glob(["include/**"]),
    includes = ["include"],  # Bazel passes these as -isystem
    visibility = {headers_visibility},
)
{archive_rule}
cc_library(
    name = "{name}",
    linkopts = {linkopts} + select({{
        ":tsan": {tsan_linkopts},
        "//conditions:default": [],
    }}),
    visibility = {visibility},
    deps = {deps},
)
config_setting(
    name = "tsan",
    define_values = {{"sanitizer": "tsan"}},
)
"""

# A static library is linked whole: code that is loaded later may need any part of it.
_ARCHIVE_RULE = """
cc_import(
    name = "archive",
    static_library = "{archive}",
    alwayslink = True,
)
"""

_LIB_FOLDERS = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib"]

def _pkg_config(ctx, *args):
    """The words that pkg-config prints for the library, or [] if it does not know it."""
    tool = ctx.which("pkg-config")
    if not tool or not ctx.attr.pkg_config:
        return []
    result = ctx.execute([tool] + list(args) + [ctx.attr.pkg_config])
    return result.stdout.strip().split(" ") if result.return_code == 0 else []

def _find(ctx, file, folders):
    """The path of `file` in the first of `folders` that has it."""
    for folder in folders:
        path = ctx.path(folder + "/" + file) if folder else None
        if path and path.exists:
            return path
    fail(_apt_hint("%s (looked in %s)" % (file, ", ".join(folders)), ctx.attr.package))

def _library_impl(ctx):
    include_folders = (
        [flag[len("-I"):] for flag in _pkg_config(ctx, "--cflags-only-I")] +
        _pkg_config(ctx, "--variable=includedir") +
        ctx.attr.include_folders
    )
    for header in ctx.attr.headers:
        ctx.symlink(_find(ctx, header, include_folders), "include/" + header)

    deps = [":headers"]
    archive_rule = ""
    if ctx.attr.archive:
        lib_folders = _pkg_config(ctx, "--variable=libdir") + _LIB_FOLDERS
        ctx.symlink(_find(ctx, ctx.attr.archive, lib_folders), ctx.attr.archive)
        archive_rule = _ARCHIVE_RULE.format(archive = ctx.attr.archive)
        deps.append(":archive")

    public = ["//visibility:public"]
    ctx.file("BUILD", _LIBRARY_BUILD.format(
        name = ctx.name,
        archive_rule = archive_rule,
        deps = deps,
        linkopts = ctx.attr.linkopts,
        tsan_linkopts = ctx.attr.tsan_linkopts,
        headers_visibility = ctx.attr.headers_visibility or public,
        visibility = ctx.attr.library_visibility or public,
    ))

# Makes @name//:name (headers, and what to link) and @name//:headers (headers alone).
_library = repository_rule(
    implementation = _library_impl,
    attrs = {
        "archive": attr.string(doc = "the static library, if one is to be linked"),
        "headers": attr.string_list(mandatory = True, doc = "as they are included"),
        "headers_visibility": attr.string_list(doc = "default: public"),
        "include_folders": attr.string_list(doc = "where to look if pkg-config does not know"),
        "library_visibility": attr.string_list(doc = "default: public"),
        "linkopts": attr.string_list(),
        "package": attr.string(mandatory = True, doc = "the Debian package that has it"),
        "pkg_config": attr.string(doc = "the library's name for pkg-config"),
        "tsan_linkopts": attr.string_list(doc = "besides, under the thread sanitizer"),
    },
    configure = True,
    environ = ["PKG_CONFIG_PATH"],
    local = True,  # looked up anew by each Bazel server, so an upgrade is noticed
)

def _libraries():
    # The C library, never lua5.4-c++: there each error and each yield is a C++ throw.
    _library(
        name = "lua",
        archive = "liblua5.4.a",
        headers = ["lua.hpp", "lua.h", "luaconf.h", "lualib.h", "lauxlib.h"],
        headers_visibility = [
            "@shoal//bindings:__subpackages__",
            "@shoal//runtime:__pkg__",
            "@shoal//runtime/lua:__pkg__",
            "@shoal//runtime/process:__pkg__",
            "@shoal//tests:__subpackages__",
        ],
        include_folders = ["/usr/include/lua5.4"],
        # The host of a Lua module brings the library; the module itself must not contain it.
        library_visibility = [
            "@shoal//bindings/cli:__pkg__",
            "@shoal//bindings/cpp:__pkg__",
            "@shoal//tests:__subpackages__",
        ],
        # -E exports the symbols of the program, so that Lua modules written in C find the API.
        linkopts = ["-Wl,-E", "-ldl", "-lm"],
        package = "liblua5.4-dev",
        pkg_config = "lua5.4",
        # It leaves a protected call by __longjmp_chk, which that sanitizer does not know: its shadow
        # stack would grow without end.
        tsan_linkopts = ["-Wl,--defsym=__longjmp_chk=longjmp"],
    )
    _library(
        name = "concurrentqueue",
        headers = ["concurrentqueue/concurrentqueue.h"],
        include_folders = ["/usr/include"],
        package = "libconcurrentqueue-dev",
        pkg_config = "concurrentqueue",
    )
    _library(
        name = "catch2",
        headers = ["catch2/catch.hpp"],
        include_folders = ["/usr/include"],
        package = "catch2",
        pkg_config = "catch2",
    )
    _library(
        name = "libedit",
        headers = ["histedit.h", "editline/readline.h"],
        headers_visibility = ["@shoal//bindings/cli:__pkg__"],
        include_folders = ["/usr/include"],
        library_visibility = ["@shoal//bindings/cli:__pkg__"],
        linkopts = ["-ledit"],
        package = "libedit-dev",
        pkg_config = "libedit",
    )

# Toolchain ----------------------------------------------------------------------------------------

def _clang_toolchain_impl(ctx):
    """Bazel's own configuration of a C++ toolchain, for clang instead of $CC.

    So gcc and clang are two toolchains that exist side by side, and changing between them
    (`--config=clang`) configures nothing anew.
    """
    clang = ctx.which("clang-14") or ctx.which("clang")
    if not clang:
        fail(_apt_hint("clang", "clang-14 libclang-rt-14-dev"))
    configure_unix_toolchain(ctx, get_cpu_value(ctx), {"gcc": str(clang)})

_clang_toolchain = repository_rule(
    implementation = _clang_toolchain_impl,
    configure = True,
    environ = ["PATH"],
    local = True,
)

# Rule sets of Bazel -------------------------------------------------------------------------------

def _stub_impl(ctx):
    for path, content in ctx.attr.files.items():
        ctx.file(path, content)

_stub = repository_rule(
    implementation = _stub_impl,
    attrs = {"files": attr.string_dict(mandatory = True)},
)

_CC_RULES = [
    "cc_binary",
    "cc_import",
    "cc_library",
    "cc_proto_library",
    "cc_test",
    "cc_toolchain",
    "cc_toolchain_suite",
    "fdo_prefetch_hints",
    "fdo_profile",
    "objc_import",
    "objc_library",
]

def _rule_sets():
    # Debian's bazel-rules-cc does not go with its Bazel; the native rules are all we need.
    _stub(
        name = "rules_cc",
        files = {
            "BUILD": "",
            "cc/BUILD": "",
            "cc/defs.bzl": "\n".join(["%s = native.%s" % (rule, rule) for rule in _CC_RULES]),
        },
    )

    # Every test names these two, though they are used in coverage runs only.
    _stub(
        name = "remote_coverage_tools",
        files = {"BUILD": """\
package(default_visibility = ["//visibility:public"])
sh_binary(name = "coverage_report_generator", srcs = ["unused.sh"])
sh_binary(name = "lcov_merger", srcs = ["unused.sh"])
""", "unused.sh": "exit 1"},
    )
    for name, folder in {
        "bazel_skylib": "tools/skylib",
        "platforms": "platforms",
        "rules_java": "rules/java",
        "rules_proto": "rules/proto",
    }.items():
        native.local_repository(name = name, path = "/usr/share/bazel/" + folder)

def debian_repositories():
    _libraries()
    _clang_toolchain(name = "clang_toolchain")
    _rule_sets()
