import Foundation
import Glibc

/// Files with what commands must print. `STRATA_UPDATE_GOLDEN=1` writes them; read what changed before it is kept.
enum Golden {
    static let isUpdated = getenv("STRATA_UPDATE_GOLDEN") != nil

    static func path(_ name: String) -> String {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return root.joined(separator: "/") + "/Golden/" + name
    }

    static func update(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
    }
}
