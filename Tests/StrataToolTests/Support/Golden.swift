import Foundation
import Glibc
import StrataSystem

/// Files with what commands must print. `STRATA_UPDATE_GOLDEN=1` writes them; read what changed before it is kept.
enum Golden {
    static let isUpdated = getenv("STRATA_UPDATE_GOLDEN") != nil
    private static let updating = Lock(0)

    static func path(_ name: String) -> String {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        return root.joined(separator: "/") + "/Golden/" + name
    }

    static func update(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
    }

    /// One line of a file whose lines begin with these names.
    static func update(_ name: String, line: String, in order: [String]) throws {
        try updating.withLock { _ in
            let text = (try? String(contentsOfFile: path(name), encoding: .utf8)) ?? ""
            var lines = text.split(separator: "\n").map(String.init)
            let start = line.prefix { $0 != ":" } + ":"
            lines.removeAll { $0.hasPrefix(start) }
            lines = (lines + [line]).sorted { place(of: $0, order) < place(of: $1, order) }
            try update(name, lines.joined(separator: "\n") + "\n")
        }
    }

    private static func place(of line: String, _ order: [String]) -> Int {
        order.firstIndex { line.hasPrefix($0 + ":") } ?? order.count
    }
}
