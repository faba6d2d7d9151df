import StrataModel

/// Which version of a record was in front of each that the requests of a minimisation made, in the log: what a change
/// tag stands for if its save does not come to be.
struct MinimisationVersions {
    /// Ascending; two numbers for each save, since there may be millions.
    private var saved: [UInt64] = []
    private var previous: [UInt64] = []
    /// Versions up to it are those of the base, and there from the beginning.
    private let floor: UInt64

    init(floor: UInt64) { self.floor = floor }

    /// Commits are added in the order of the log.
    mutating func add(_ saves: [SavedVersions.Save], at offset: UInt64) {
        for save in saves {
            saved.append(Version(offset: offset, eventIndex: save.index).packed)
            previous.append(save.previous?.resolved(in: offset).packed ?? 0)
        }
    }

    /// The newest version in front of one, itself included, that came to be; nil for none, as of a new record.
    ///
    /// - Parameter moved: where versions are that came to be.
    func version(of old: Version, _ moved: [Version: Version]) -> Version? {
        var version = old
        while true {
            if let known = moved[version] { return known }
            if version.offset <= floor { return version }
            // The client made it up, or it is of a record that nothing was asked about.
            guard let place = place(of: version.packed) else {
                return Version(offset: Version.maximumOffset, eventIndex: 0)
            }
            guard previous[place] != 0 else { return nil }
            version = Version(packed: previous[place])
        }
    }

    private func place(of packed: UInt64) -> Int? {
        var (low, high) = (0, saved.count)
        while low < high {
            let middle = (low + high) / 2
            if saved[middle] < packed { low = middle + 1 } else { high = middle }
        }
        return low < saved.count && saved[low] == packed ? low : nil
    }
}
