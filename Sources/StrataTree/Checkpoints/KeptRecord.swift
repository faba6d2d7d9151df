import StrataModel

/// An older checkpoint that is still intact and can be opened.
struct KeptRecord: Equatable, Sendable {
    var epoch: UInt64
    var position: Position
    var record: RecordPlace
    var pageCount: Int
    var time: Int64
}
