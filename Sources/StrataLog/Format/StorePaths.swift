/// The paths within a store (docs/format.md §1).
package struct StorePaths: Sendable {
    package let store: String

    package init(_ store: String) {
        // Without trailing slashes: the parent directory is what precedes the last one.
        var store = store[...]
        while store.count > 1, store.last == "/" { store.removeLast() }
        self.store = String(store)
    }

    /// The directory in which the store's directory is.
    package var parent: String {
        guard let slash = store.lastIndex(of: "/") else { return "." }
        return slash == store.startIndex ? "/" : String(store[..<slash])
    }
    package var identity: String { store + "/STORE" }
    package var lock: String { store + "/LOCK" }
    /// In a copy of a replicated log, how far it has read.
    package var replica: String { store + "/REPLICA" }
    /// In a copy of a replicated log, the address of its sequencer.
    package var sequencer: String { store + "/SEQUENCER" }
    /// Exists while a copy is made from a base.
    package var joining: String { store + "/JOINING" }
    package var log: String { store + "/log" }
    package var floor: String { log + "/FLOOR" }
    var spare: String { log + "/spare" }
    /// A base that is being written.
    var baseDraft: String { log + "/base.new" }
    /// The path of the base that replaces all commits up to an offset.
    package func base(_ horizon: UInt64) -> String { log + "/" + LogFormat.baseName(horizon) }
    /// A segment that is being sealed.
    var sealing: String { log + "/sealing" }
    var tail: String { log + "/tail" }
    /// The directory of the views, whose states serve the log as a witness of its end.
    var views: String { store + "/views" }
    /// Exists while an erasure is incomplete.
    var erasing: String { log + "/ERASING" }

    package func segment(_ firstOffset: UInt64) -> String { log + "/" + LogFormat.segmentName(firstOffset) }
}
