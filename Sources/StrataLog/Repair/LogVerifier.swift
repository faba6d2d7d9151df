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
    /// - Parameter progress: called from time to time with the bytes read so far and in total.
    package static func verify(
        at path: String, platform: Platform = Platform(), progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) -> VerificationReport {
        do { return try DamageScan.run(at: StorePaths(path), platform.files, progress).report } catch {
            var report = VerificationReport()
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
