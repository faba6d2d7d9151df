/// The next merge of a store's runs, if one is due.
struct MergePlan: Equatable {
    /// The runs to merge: neighbors in age, newest first.
    let inputs: Range<Int>
    /// The run that has what a merge that was interrupted has consumed; nil if it begins.
    let output: Int?
    let level: RunLevel

    /// Merges into the base begin when the newer runs and the entries that they delete reach this part of it.
    private static let basePart = 2
    /// At rest, they begin at this part.
    private static let restingPart = 20
    private static let maximumFlushed = 8
    private static let maximumMiddle = 6
    /// More runs than this make reading slow.
    static let manyRuns = 24
    /// All runs are merged into the base at once up to this size of the base.
    private static let smallBaseBytes = 2 << 30

    private init(inputs: Range<Int>, output: Int? = nil, level: RunLevel) {
        self.inputs = inputs
        self.output = output
        self.level = level
    }

    /// A merge that was begun comes before any other but that of many newer runs. Unless at rest, one into the base
    /// continues only once some merge is due by size.
    ///
    /// - Parameter runs: the store's own, newest first.
    init?(_ runs: ArraySlice<LeveledRun>, _ options: TreeStoreOptions, isAtRest: Bool) {
        let begun = Self.begun(runs)
        // Those that no merge has consumed in part.
        let flushed = runs.prefix { $0.level == .flushed && $0.run.visibleFrom == nil }
        let newer = runs.prefix { $0.level < .base }
        let (middle, base) = (newer.filter { $0.level == .middle }, runs[newer.endIndex...])
        func liveBytes(_ runs: ArraySlice<LeveledRun>) -> Int { runs.reduce(0) { $0 + $1.run.liveBytes } }
        let baseBytes = liveBytes(base)
        // A mark frees about what an entry of the base takes.
        let (marks, entries) = (newer.reduce(0) { $0 + $1.run.marks }, base.reduce(0) { $0 + $1.run.entries })
        let deleted = min(1, Double(marks) / Double(max(1, entries)))
        let newBytes = liveBytes(newer) + Int(Double(baseBytes) * deleted)
        // What has been merged is in the base already.
        let part = begun == nil ? Self.basePart : 2 * Self.basePart
        let isBaseDue = newBytes >= max(2 * options.generationBytes, baseBytes / part)
        let areManyFlushed = flushed.count >= Self.maximumFlushed
        if let begun, !areManyFlushed {
            let isDue = begun.level == .middle || isBaseDue || middle.count >= Self.maximumMiddle
            guard isAtRest || isDue else { return nil }
            self = begun
        } else if begun == nil,
            isAtRest && newBytes > baseBytes / Self.restingPart || isBaseDue && baseBytes <= Self.smallBaseBytes
        {
            self.init(inputs: 0..<runs.count, level: .base)
        } else if areManyFlushed {
            self.init(inputs: 0..<flushed.count, level: .middle)
        } else if isBaseDue, !middle.isEmpty {
            self.init(inputs: flushed.endIndex..<runs.count, level: .base)
        } else if middle.count >= Self.maximumMiddle {
            self.init(inputs: flushed.endIndex..<newer.endIndex, level: .middle)
        } else {
            return nil
        }
    }

    /// The merge that was begun: its inputs are visible from a key on, and its output follows them.
    private static func begun(_ runs: ArraySlice<LeveledRun>) -> MergePlan? {
        guard let first = runs.firstIndex(where: { $0.run.visibleFrom != nil }),
            let end = runs[first...].firstIndex(where: { $0.run.visibleFrom == nil })
        else { return nil }
        return MergePlan(inputs: first..<end, output: end, level: runs[end].level)
    }
}
