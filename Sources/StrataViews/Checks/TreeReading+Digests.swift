import StrataModel
import StrataTree

extension TreeReading {
    /// Returns the digests, which distinguish this state from any other (docs/format-keys.md §5). Reads a row for each
    /// zone, subscription, user and the like, but no records.
    package func digests() throws -> Digests {
        var sum = Digests()
        for maintainer in ViewTree.maintainers where maintainer.hasDigests {
            try scan(maintainer.tree, from: nil, to: nil) { _, row in
                try maintainer.addDigests(of: row, to: &sum)
                return true
            }
        }
        return sum
    }
}
