import Glibc
import StrataLog
import StrataModel
import StrataSystem

/// Suggests what the user can do about an error of a store.
enum Advice {
    /// - Parameter stores: the paths that were given for stores.
    static func advice(for error: StrataError, stores: [String] = []) -> String? {
        switch error.code {
        case .notFound where isInStore(error, stores):
            "Check the path: it must be a store's directory, such as Notes.strata."
        case .notFound where error.context.path != nil && !stores.isEmpty: "Check the path of the file."
        case .notAStore: "Give the directory that contains the file STORE, such as Notes.strata."
        case .locked: "Stop the program that writes to the store, or have that program do this."
        case .permissionDenied where isInStore(error, stores):
            "Run this as a user who may read the store's files, or copy the store."
        case .newerFormat: "Use a newer strata; this is \(Tool.version)."
        case .inputOutput where error.context.errno == EIO:
            "The medium may be failing: copy the store to another medium and run the command on the copy."
        case _ where error.isDamage && isOfOtherFile(error, stores): "Check the file; the store is not affected."
        case _ where error.isDamage:
            "Copy the store before doing anything else with it; 'strata verify STORE' shows how much of it is intact, "
                + "'strata repair STORE' what a repair would keep."
        default: nil
        }
    }

    private static func isInStore(_ error: StrataError, _ stores: [String]) -> Bool {
        guard let path = error.context.path.map({ StorePaths($0).store }) else { return false }
        return stores.contains { path.isAtOrBelow(StorePaths($0).store) }
    }

    /// Returns true for a file that is given beside stores, such as an export or the state of a sync engine.
    private static func isOfOtherFile(_ error: StrataError, _ stores: [String]) -> Bool {
        error.context.path != nil && !stores.isEmpty && !isInStore(error, stores)
            && !stores.contains { SequencerAddress.isMeant(by: $0) }
    }

    /// Returns the problem in words: for a file that cannot be opened, without what only helps with a store.
    static func problem(_ error: StrataError, stores: [String]) -> String {
        guard let number = error.context.errno, let path = error.context.path,
            error.context.found?.hasPrefix("open: ") == true, !isInStore(error, stores)
        else { return error.description }
        let reason = String(cString: strerror(number))
        return "cannot open \(path): " + reason.prefix(1).lowercased() + reason.dropFirst()
    }

    /// Returns the error to report. A store whose log is missing is damaged; its path is correct.
    static func told(_ error: StrataError, stores: [String]) -> StrataError {
        guard error.code == .notFound, let path = error.context.path,
            let store = stores.map({ StorePaths($0) }).first(where: { $0.log == path }),
            (try? RealFileSystem().exists(store.identity)) == true
        else { return error }
        return StrataError(.missingSegment, "The store has no segments.", .init(path: path))
    }

    /// All known details of an error, as labels and values.
    static func items(of error: StrataError) -> [(label: StaticString, value: String)] {
        let context = error.context
        let items: [(StaticString, Any?)] = [
            ("problem", error.message), ("code", error.code.rawValue), ("segment", context.segment),
            ("offset", context.offset), ("frame", context.page), ("position", context.position), ("path", context.path),
            ("line", context.line), ("column", context.column), ("expected", context.expected),
            ("found", context.found), ("because", error.cause),
        ]
        return items.compactMap { label, value in value.map { (label, "\($0)") } }
    }
}

extension String {
    fileprivate func isAtOrBelow(_ path: String) -> Bool { self == path || hasPrefix(path + "/") }
}

extension StrataError: Shaped {
    static let shape = Shape<Self>("Damage") {
        Key("code", "the kind of damage, such as `badChecksum`") { $0.code.rawValue }
        Key("message", "one sentence, the same for the same code path") { $0.message }
        Key("segment", "first offset of the segment, which is its name", if: "if known") { $0.context.segment }
        Key("offset", "of the commit", if: "if known") { $0.context.offset }
        Key("page", "number of a frame, of 16 KiB", if: "if a file of the views is damaged") { $0.context.page }
        Key("position", "in the file, or in a payload that cannot be decoded", if: "if known") { $0.context.position }
        Key("path", "of the file", if: "if known") { $0.context.path }
        Key("expected", "the value that the format requires", if: "if known") { $0.context.expected }
        Key("found", "the value that was found", if: "if known") { $0.context.found }
        Key("because", "the underlying error", if: "if there is one") { $0.cause.map { "\($0)" } }
    }
}
