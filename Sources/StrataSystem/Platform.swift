/// The outside world as the engine sees it: files, time and randomness, real or simulated.
///
/// ```swift
/// let platform = Platform(random: SeededRandom(seed: 7))
/// ```
public struct Platform: Sendable {
    public var files: any FileSystem
    public var time: any TimeSource
    public var random: any RandomSource

    public init(
        files: any FileSystem = RealFileSystem(), time: any TimeSource = SystemTime(),
        random: any RandomSource = SystemRandom()
    ) {
        self.files = files
        self.time = time
        self.random = random
    }
}
