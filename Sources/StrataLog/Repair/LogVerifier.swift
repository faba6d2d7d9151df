import StrataModel
import StrataSystem

/// Reads every byte of a log and reports whether it conforms to the format, without taking the lock or changing
/// anything.
///
/// ```swift
/// let report = LogVerifier.verify(at: "Notes.strata")
/// if let damage = report.damage { print(damage) }
/// ```
package enum LogVerifier {
    package struct Report: Sendable {
        package var identity: StoreIdentity?
        /// The number of segments that were read before any damage, including the one that has it.
        package var segmentCount = 0
        package var commitCount: UInt64 = 0
        package var eventCount: UInt64 = 0
        /// The size of all segments and the base, including those after any damage.
        package var fileBytes = 0
        /// The last commit that a base replaces; nil if there is no base, or if it is damaged.
        package var base: Position?
        /// The last commit before any damage.
        package var end: Position = .start
        package var unfinishedTail: LogReader.UnfinishedTail?
        /// The first damage; nil if the log is whole. The code `.newerFormat` means that only a later release
        /// understands it.
        package var damage: StrataError?
        /// The extent of the damage, as far as it can be determined; nil if the log is whole.
        package var extent: DamageExtent?

        package init() {}
    }

    /// - Parameter progress: called from time to time with the bytes read so far and in total.
    package static func verify(
        at path: String, platform: Platform = Platform(), progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) -> Report {
        do { return try DamageScan.run(at: StorePaths(path), platform.files, progress).report } catch {
            var report = Report()
            report.damage = error as? StrataError ?? StrataError(.inputOutput, "Reading failed.", cause: error)
            return report
        }
    }
}

extension StrataError {
    /// True if the bytes of a store are wrong, or of a later release, rather than the access to them failing.
    package var isDamage: Bool {
        switch code {
        case .wrongMagic, .newerFormat, .badChecksum, .brokenChain, .brokenSequence, .impossibleLength, .missingSegment,
            .foreignSegment, .unsealedSegment, .malformed:
            true
        default: false
        }
    }
}
