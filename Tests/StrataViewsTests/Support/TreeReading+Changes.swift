import StrataModel
import StrataTree

/// The difference of an entry between two states.
enum EntryChange {
    case added, removed, replaced
}

extension TreeReading {
    /// Calls `body` with each entry that differs from an earlier state, until it returns false.
    func forEachChange(
        of id: TreeID, since before: Snapshot, _ body: (UnsafeRawBufferPointer, EntryChange) throws -> Bool
    ) throws {
        func entries(_ trees: some TreeReading) throws -> [[UInt8]: [UInt8]] {
            var entries: [[UInt8]: [UInt8]] = [:]
            try trees.scan(id) { key, value in
                entries[[UInt8](key)] = [UInt8](value)
                return true
            }
            return entries
        }
        let (old, new) = (try entries(before), try entries(self))
        for key in Set(old.keys).union(new.keys).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let change: EntryChange
            switch (old[key], new[key]) {
            case (nil, _): change = .added
            case (_, nil): change = .removed
            case (let old, let new):
                if old == new { continue }
                change = .replaced
            }
            guard try key.withUnsafeBytes({ try body($0, change) }) else { return }
        }
    }
}
