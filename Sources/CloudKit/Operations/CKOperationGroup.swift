import Foundation
import StrataSystem

/// A group of related operations, for instance all that result from one action of a user.
///
/// The group's ID and name are recorded with every commit of its operations. Its default configuration supplies the
/// settings that an operation's own configuration does not set.
///
/// ```swift
/// let group = CKOperationGroup()
/// group.name = "first sync"
/// operation.group = group
/// ```
public final class CKOperationGroup: NSObject, NSSecureCoding, CVarArg, Sendable {
    private struct State {
        var name: String?
        var quantity = 0
        var expectedSendSize = TransferSize.unknown
        var expectedReceiveSize = TransferSize.unknown
        var defaultConfiguration = CKOperation.Configuration()
    }

    /// The approximate amount of data that the operations of a group will send or receive.
    public enum TransferSize: Int, Sendable, BitwiseCopyable {
        case unknown = 0
        case kilobytes, megabytes, tensOfMegabytes, hundredsOfMegabytes
        case gigabytes, tensOfGigabytes, hundredsOfGigabytes
    }

    private let state: Lock<State>
    /// A unique identifier.
    public let operationGroupID: String

    /// Creates a group with a unique identifier.
    public override init() {
        state = Lock(State())
        operationGroupID = UUID().uuidString
    }

    /// The settings for operations whose own configuration does not set them. Setting it copies the value; nil resets
    /// it.
    public var defaultConfiguration: CKOperation.Configuration! {  // It gives one always; the mark lets nil be set.
        get { state.withLock { $0.defaultConfiguration } }
        set {
            let values = newValue?.explicit ?? .init()
            state.withLock { $0.defaultConfiguration = CKOperation.Configuration(values) }
        }
    }

    /// The name of the group in the log.
    public var name: String? {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    /// A number with a meaning to the program, for instance the number of items to process.
    public var quantity: Int {
        get { state.withLock { $0.quantity } }
        set { state.withLock { $0.quantity = newValue } }
    }

    /// The approximate amount that the operations will send; a hint that is kept with the group.
    public var expectedSendSize: TransferSize {
        get { state.withLock { $0.expectedSendSize } }
        set { state.withLock { $0.expectedSendSize = newValue } }
    }

    /// The approximate amount that the operations will receive; a hint that is kept with the group.
    public var expectedReceiveSize: TransferSize {
        get { state.withLock { $0.expectedReceiveSize } }
        set { state.withLock { $0.expectedReceiveSize = newValue } }
    }

    // MARK: Archives

    private enum Key {
        static let id = "OperationGroupID"
        static let name = "Name"
        static let quantity = "Quantity"
        static let sendSize = "ExpectedSendSize"
        static let receiveSize = "ExpectedReceiveSize"
    }

    /// Encodes the group with its identifier, without its default configuration.
    public func encode(with coder: NSCoder) {
        coder.encode(operationGroupID as NSString, forKey: Key.id)
        if let name { coder.encode(name as NSString, forKey: Key.name) }
        coder.encode(Int64(quantity), forKey: Key.quantity)
        coder.encode(Int64(expectedSendSize.rawValue), forKey: Key.sendSize)
        coder.encode(Int64(expectedReceiveSize.rawValue), forKey: Key.receiveSize)
    }

    /// Decodes a group; nil if the archive holds none.
    public init?(coder: NSCoder) {
        let archive = ArchiveReader(coder)
        guard let id = archive.string(Key.id), !id.isEmpty else { return nil }
        func integer(_ key: String) -> Int { Int(truncatingIfNeeded: archive.integer(key) ?? 0) }
        var state = State()
        state.name = archive.string(Key.name)
        state.quantity = integer(Key.quantity)
        state.expectedSendSize = TransferSize(rawValue: integer(Key.sendSize)) ?? .unknown
        state.expectedReceiveSize = TransferSize(rawValue: integer(Key.receiveSize)) ?? .unknown
        guard archive.isIntact else { return nil }
        self.state = Lock(state)
        operationGroupID = id
    }
}
