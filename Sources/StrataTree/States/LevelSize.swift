/// The number of runs of one level of a state, and their size.
package struct LevelSize: Sendable, Equatable {
    package let level: RunLevel
    package let runCount: Int
    /// The bytes of the pieces, without blob files.
    package let byteCount: Int

    /// The levels that have runs, newest first.
    static func all(of state: StateFile) -> [LevelSize] {
        RunLevel.allCases.compactMap { level in
            let runs = state.runs.filter { $0.level == level }
            let byteCount = runs.lazy.flatMap(\.pieces).reduce(0) { $0 + $1.byteCount }
            return runs.isEmpty ? nil : LevelSize(level: level, runCount: runs.count, byteCount: byteCount)
        }
    }
}
