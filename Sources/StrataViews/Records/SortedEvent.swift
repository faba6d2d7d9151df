import StrataModel

/// An event of a record, with the record's key.
struct SortedEvent {
    // Both are valid only as long as the function that provides the event says.
    var key: UnsafeRawBufferPointer
    var body: UnsafeRawBufferPointer
    var kind: EventKind
    var place: EventPlace
    /// The state before the record's first event, as far as it is known.
    var before = Before.unknown

    enum Before {
        case unknown
        case absent
        case state(UnsafeRawBufferPointer)
    }
}
