/// A run of a state, with the level that decides when it is merged.
struct LeveledRun: Sendable {
    let run: Run
    let level: RunLevel
}
