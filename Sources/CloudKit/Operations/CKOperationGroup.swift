import Foundation
import StrataSystem

/// Operations that belong together, for instance all that one action of a user leads to.
///
/// Its id and name are kept with every commit of its operations; its default configuration is used for what an
/// operation's own configuration leaves open.
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

    /// About how much the operations of a group will send or receive.
    public enum TransferSize: Int, Sendable, BitwiseCopyable {
        case unknown = 0
        case kilobytes, megabytes, tensOfMegabytes, hundredsOfMegabytes
        case gigabytes, tensOfGigabytes, hundredsOfGigabytes
    }

    private let state: Lock<State>
    /// An identifier that no other group has.
    public let operationGroupID: String

    /// Makes a group with an identifier of its own.
    public override init() {
        state = Lock(State())
        operationGroupID = UUID().uuidString
    }

    /// What an operation's own configuration leaves open; nil resets it. What is set is copied.
    public var defaultConfiguration: CKOperation.Configuration! {  // It gives one always; the mark lets nil be set.
        get { state.withLock { $0.defaultConfiguration } }
        set {
            let values = newValue?.explicit ?? .init()
            state.withLock { $0.defaultConfiguration = CKOperation.Configuration(values) }
        }
    }

    /// What the log calls the group.
    public var name: String? {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    /// A number that means something to the program, for instance how many items it is about.
    public var quantity: Int {
        get { state.withLock { $0.quantity } }
        set { state.withLock { $0.quantity = newValue } }
    }

    /// About how much the operations will send; a hint that is kept with the group.
    public var expectedSendSize: TransferSize {
        get { state.withLock { $0.expectedSendSize } }
        set { state.withLock { $0.expectedSendSize = newValue } }
    }

    /// About how much the operations will receive; a hint that is kept with the group.
    public var expectedReceiveSize: TransferSize {
        get { state.withLock { $0.expectedReceiveSize } }
        set { state.withLock { $0.expectedReceiveSize = newValue } }
    }

    // MARK: Archives

    public static var supportsSecureCoding: Bool { true }

    private enum Key {
        static let id = "OperationGroupID"
        static let name = "Name"
        static let quantity = "Quantity"
        static let sendSize = "ExpectedSendSize"
        static let receiveSize = "ExpectedReceiveSize"
    }

    /// The group with its identifier; its default configuration is not kept.
    public func encode(with coder: NSCoder) {
        coder.encode(operationGroupID as NSString, forKey: Key.id)
        if let name { coder.encode(name as NSString, forKey: Key.name) }
        coder.encode(Int64(quantity), forKey: Key.quantity)
        coder.encode(Int64(expectedSendSize.rawValue), forKey: Key.sendSize)
        coder.encode(Int64(expectedReceiveSize.rawValue), forKey: Key.receiveSize)
    }

    /// The group that was archived; nil for what is none.
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
