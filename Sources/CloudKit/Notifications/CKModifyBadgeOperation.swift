import Foundation

/// Sets the number on the app's badge. The next notification that increments the badge counts on from it.
///
/// ```swift
/// let operation = CKModifyBadgeOperation(badgeValue: 0)
/// operation.modifyBadgeCompletionBlock = { error in print(error as Any) }
/// container.add(operation)
/// ```
///
/// Each device has its own badge. A value below 0 fails with `invalidArguments`.
// @unchecked: like its superclass.
@available(*, deprecated, message: "Set the app's badge itself.")
public final class CKModifyBadgeOperation: CKOperation, @unchecked Sendable {
    /// The number to show.
    public var badgeValue = 0
    /// Called once, at the end.
    public var modifyBadgeCompletionBlock: ((Error?) -> Void)?

    /// Creates an operation that sets the badge to 0.
    public override init() { super.init() }

    /// Creates an operation that sets the badge.
    public convenience init(badgeValue: Int) {
        self.init()
        self.badgeValue = badgeValue
    }

    override func makeRun() -> (any OperationRun)? {
        let (client, badge, completion) = (effectiveContainer.client, badgeValue, modifyBadgeCompletionBlock)
        return SingleRun(
            settings: settings,
            make: {
                guard let number = UInt64(exactly: badge) else {
                    throw CKError(.invalidArguments, message: "A badge cannot be below 0; this one is \(badge).")
                }
                try client.writable().store.setBadge(number, of: client.actor)
            }, report: { completion?($0.oldError) })
    }
}
