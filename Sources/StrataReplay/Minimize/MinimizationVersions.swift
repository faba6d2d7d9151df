import StrataModel

/// The version before each one that the requests of a minimization made in the log. A change tag stands for it if the
/// save that made the tag is left out.
struct MinimizationVersions {
    /// Ascending, as two integers per save, since there may be millions.
    private var saved: [UInt64] = []
    private var previous: [UInt64] = []
    /// Versions up to this offset belong to the base, and exist from the beginning.
    private let floor: UInt64

    init(floor: UInt64) { self.floor = floor }

    /// Adds the saves of a commit. Commits must be added in the order of the log.
    mutating func add(_ saves: [SavedVersions.Save], at offset: UInt64) {
        for save in saves {
            saved.append(Version(offset: offset, eventIndex: save.index).packed)
            previous.append(save.previous?.resolved(in: offset).packed ?? 0)
        }
    }

    /// Returns the newest existing version at or before another; nil if there is none, as for a new record.
    ///
    /// - Parameter moved: the new version of each old one that exists.
    func version(of old: Version, _ moved: [Version: Version]) -> Version? {
        var version = old
        while true {
            if let known = moved[version] { return known }
            if version.offset <= floor { return version }
            // The client invented it, or the search includes no request about its record.
            guard let place = place(of: version.packed) else {
                return Version(offset: Version.maximumOffset, eventIndex: 0)
            }
            guard previous[place] != 0 else { return nil }
            version = Version(packed: previous[place])
        }
    }

    private func place(of packed: UInt64) -> Int? {
        let place = saved.endOfPrefix { $0 < packed }
        return place < saved.count && saved[place] == packed ? place : nil
    }
}
