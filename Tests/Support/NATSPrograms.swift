import Glibc

/// The programs of NATS servers on this machine.
package enum NATSPrograms {
    /// The programs in the order in which they are taken: that of the environment, that of `tools/nats install`, and
    /// those of the path.
    package static let all: [String] = {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        var programs = ["/\(root)/.build/nats/server/bin/nats-server"]
        if let named = getenv("STRATA_NATS_SERVER") { programs.insert(String(cString: named), at: 0) }
        let folders = getenv("PATH").map { String(cString: $0).split(separator: ":") } ?? []
        programs += folders.map { "\($0)/nats-server" }
        return programs.filter { access($0, X_OK) == 0 }
    }()
    /// The first server from version 2.12 on; nil if there is none.
    package static let recent = all.first { path in
        guard let child = try? ChildProcess(path, ["--version"]) else { return false }
        defer { _ = child.wait() }
        // Such as `nats-server: v2.15.1`.
        let numbers = (child.lines().first?.split(separator: "v").last ?? "").split(separator: ".").map { Int($0) ?? 0 }
        return numbers.count >= 2 && (numbers[0], numbers[1]) >= (2, 12)
    }
}
