import Synchronization

/// A class whose ``Published`` properties announce their changes, as Combine's protocol of this name.
///
/// ```swift
/// final class Notes: ObservableObject { @Published var titles: [String] = [] }
/// let observation = notes.objectWillChange.sink { print("the notes change") }
/// ```
public protocol ObservableObject: AnyObject {
    /// Sends before each change of a ``Published`` property.
    var objectWillChange: ObservableObjectPublisher { get }
}

extension ObservableObject {
    /// The object's publisher; the same one for as long as the object exists.
    public var objectWillChange: ObservableObjectPublisher { ChangePublishers.publisher(of: self) }
}

/// Announces that an object is about to change.
public final class ObservableObjectPublisher: Sendable {
    private let subscribers = Subscribers<Void>()

    public init() {}

    public func send() { subscribers.send(()) }

    /// Calls a closure before each change, until the result is canceled or released.
    public func sink(receiveValue: @escaping () -> Void) -> AnyCancellable { subscribers.add(receiveValue) }
}

/// The publishers of objects that have none of their own.
private enum ChangePublishers {
    // Other threads ask only whether the object exists.
    private struct Entry: @unchecked Sendable {
        weak var owner: (any AnyObject)?
        let publisher: ObservableObjectPublisher
    }

    private struct Table {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// The number of entries at which those of released objects are removed: twice as many as were left last time.
        var limit = 64
    }

    private static let table = Mutex(Table())

    static func publisher(of owner: any AnyObject) -> ObservableObjectPublisher {
        let fresh = Entry(owner: owner, publisher: ObservableObjectPublisher())
        return table.withLock { [id = ObjectIdentifier(owner)] table in
            // The address of a released object may belong to this one by now.
            if let entry = table.entries[id], entry.owner != nil { return entry.publisher }
            if table.entries.count >= table.limit {
                table.entries = table.entries.filter { $0.value.owner != nil }
                table.limit = max(64, 2 * table.entries.count)
            }
            table.entries[id] = fresh
            return fresh.publisher
        }
    }
}
