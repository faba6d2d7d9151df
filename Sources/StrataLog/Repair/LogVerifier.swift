import StrataModel
import StrataSystem

/// Reads every byte of a log and says whether it is what the format demands, without the lock and without changing
/// anything.
///
/// ```swift
/// let report = LogVerifier.verify(at: "Notes.strata")
/// if let damage = report.damage { print(damage) }
/// ```
public enum LogVerifier {
    public struct Report: Sendable {
        public var identity: StoreIdentity?
        /// Segments that were read in front of any damage, and the one that has it.
        public var segmentCount = 0
        public var commitCount: UInt64 = 0
        public var eventCount: UInt64 = 0
        /// Of all segments and the base, also behind any damage.
        public var fileBytes = 0
        /// The last commit that a base stands for; nil if there is no base, or one that is damaged.
        public var base: Position?
        /// The last commit in front of any damage.
        public var end: Position = .start
        public var unfinishedTail: LogReader.UnfinishedTail?
        /// The first place that is wrong; nil if all is well. With the code `.newerFormat` it is one that only a later
        /// release understands.
        public var damage: StrataError?
        /// How far the damage goes, as far as that can be told; nil if all is well.
        public var extent: DamageExtent?

        public init() {}
    }

    /// - Parameter progress: called now and then with the bytes read so far and in all.
    public static func verify(
        at path: String, platform: Platform = Platform(), progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) -> Report {
        do { return try LogSurvey.run(at: StorePaths(path), platform.files, progress).report } catch {
            var report = Report()
            report.damage = error as? StrataError ?? StrataError(.inputOutput, "Reading failed.", cause: error)
            return report
        }
    }
}

extension StrataError {
    /// Whether the bytes of a store are wrong, or those of a later release, rather than the access to them wrong.
    public var isDamage: Bool {
        switch code {
        case .wrongMagic, .newerFormat, .badChecksum, .brokenChain, .brokenSequence, .impossibleLength, .missingSegment,
            .foreignSegment, .unsealedSegment, .malformed:
            true
        default: false
        }
    }
}
