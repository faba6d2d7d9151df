/// The outside world as the engine sees it: files, time and randomness, real or simulated.
///
/// ```swift
/// let platform = Platform(random: SeededRandom(seed: 7))
/// ```
package struct Platform: Sendable {
    package var files: any FileSystem
    package var time: any TimeSource
    package var random: any RandomSource

    package init(
        files: any FileSystem = RealFileSystem(), time: any TimeSource = SystemTime(),
        random: any RandomSource = SystemRandom()
    ) {
        self.files = files
        self.time = time
        self.random = random
    }
}
