import StrataModel

/// The result of verifying a log.
package struct VerificationReport: Sendable {
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
