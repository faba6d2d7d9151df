import Glibc

/// The programs of this machine.
package enum Programs {
    /// Returns the paths of a program in the folders of `PATH`, in their order.
    static func all(named name: String) -> [String] {
        let folders = getenv("PATH").map { String(cString: $0).split(separator: ":") } ?? []
        return folders.map { "\($0)/\(name)" }.filter { access($0, X_OK) == 0 }
    }

    /// Returns the path of a program; nil if `PATH` has none of this name.
    package static func path(_ name: String) -> String? { all(named: name).first }

    /// The first NATS server from version 2.12 on: that of the environment, that of `tools/nats install`, or one of
    /// `PATH`; nil if there is none.
    package static let natsServer: String? = {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let named = getenv("STRATA_NATS_SERVER").map { String(cString: $0) }
        let installed = [named, "/\(root)/.build/nats/server/bin/nats-server"].compactMap { $0 }
        return (installed.filter { access($0, X_OK) == 0 } + all(named: "nats-server")).first { isRecent($0) }
    }()

    private static func isRecent(_ server: String) -> Bool {
        guard let child = try? ChildProcess(server, ["--version"]) else { return false }
        defer { _ = child.wait() }
        // Such as `nats-server: v2.15.1`.
        let numbers = (child.lines().first?.split(separator: "v").last ?? "").split(separator: ".").map { Int($0) ?? 0 }
        return numbers.count >= 2 && (numbers[0], numbers[1]) >= (2, 12)
    }
}
