import StrataModel
import StrataSystem
import TestSupport

@testable import StrataLog

/// A store on a simulated disk of its own, with small segments, and everything that varies made to stand still.
struct TinyStore: Sendable {
    static let options = {
        var options = LogOptions(segmentBytes: 64 << 10, spaceStepBytes: 0)
        options.maximumWaitingSegments = 0
        return options
    }()

    let disk: SimulatedDisk
    let path = "/Notes.strata"
    let platform: Platform

    init(_ disk: SimulatedDisk = SimulatedDisk(), files: (any FileSystem)? = nil, seed: UInt64 = 1) {
        self.disk = disk
        platform = Platform(
            files: files ?? disk, time: ManualTime(microseconds: 1_000_000), random: SeededRandom(seed: seed))
    }

    var log: String { path + "/log" }

    func segment(_ firstOffset: UInt64) -> String { log + "/" + LogFormat.segmentName(firstOffset) }

    var segments: [String] { disk.paths.filter { $0.hasSuffix(".seg") } }

    /// First offset of the newest segment.
    var newestFirstOffset: UInt64 {
        segments.last.flatMap { LogFormat.firstOffset(ofSegmentNamed: String($0.suffix(24))) } ?? 0
    }

    func open(_ options: LogOptions = options) throws -> SegmentedLog {
        try SegmentedLog.open(at: path, options: options, platform: platform)
    }

    func reader() throws -> LogReader { try LogReader.open(at: path, platform: platform) }

    func verify() -> VerificationReport { LogVerifier.verify(at: path, platform: platform) }

    /// The store as a loss of power at this moment would leave it.
    func left(keeping: SimulatedDisk.PowerLoss = .random, seed: UInt64 = 1) -> TinyStore {
        TinyStore(disk.afterPowerLoss(seed: seed, keeping: keeping), seed: seed &+ 77)
    }

    /// The same files on a disk of their own.
    func copy() -> TinyStore { left(keeping: .everything) }
}
