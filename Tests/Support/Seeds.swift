import Glibc

/// An error inside a seeded test, with the seed that makes it happen again.
package struct SeedFailure: Error, CustomStringConvertible {
    package let seed: UInt64
    package let cause: any Error

    package var description: String { "with seed \(seed) (run with STRATA_SEED=\(seed)): \(cause)" }
}

/// The seeds 1 to `count`, or the one that the environment asks for in `STRATA_SEED`; or, for long campaigns, as many
/// as it asks for in `STRATA_SEED_COUNT`.
///
/// As arguments of a test they are named by whatever fails: `@Test(arguments: seeds(20))`.
package func seeds(_ count: Int) -> [UInt64] {
    if let text = getenv("STRATA_SEED"), let seed = UInt64(String(cString: text)) { return [seed] }
    let wanted = getenv("STRATA_SEED_COUNT").flatMap { Int(String(cString: $0)) }
    return (0..<(wanted ?? count)).map { UInt64($0) + 1 }
}

/// Runs `body` with each seed and names the seed in what it throws; checks inside use `#require`, which throws.
package func withSeeds(_ count: Int, _ body: (UInt64) throws -> Void) throws {
    for seed in seeds(count) {
        do { try body(seed) } catch { throw SeedFailure(seed: seed, cause: error) }
    }
}

package func withSeeds(_ count: Int, _ body: (UInt64) async throws -> Void) async throws {
    for seed in seeds(count) {
        do { try await body(seed) } catch { throw SeedFailure(seed: seed, cause: error) }
    }
}
