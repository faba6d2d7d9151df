import StrataLog
import StrataModel
import StrataReplication
import StrataRules
import StrataTree

extension Store {
    /// Returns a mailbox with the pushes of a device's subscriptions, missed ones first (docs/notifications.md).
    ///
    /// ```swift
    /// let box = try store.listen(as: phone)
    /// while let push = await box.next() { show(push) }
    /// ```
    ///
    /// - Throws: ``Refusal`` if no user is signed in; ``StrataError`` if the store is closed, or only read.
    public func listen(as actor: Actor) throws -> PushQueue {
        try engine.notifier.isPlayed ? gate.requireOpen() : requireWritable()
        // The device may have listened at another process.
        try catchUpWithOthers()
        try actor.requireSignedIn()
        let newest = snapshot()
        try newest.names.requireAvailable(actor, in: newest.trees)
        let box = engine.notifier.listen(actor)
        keep(box)
        return box
    }

    /// Sets the number on a device's badge, from which its next push with a badge continues to count.
    ///
    /// - Throws: ``Refusal`` if no user is signed in; ``StrataError`` if the store is closed, or only read.
    package func setBadge(_ badge: UInt64, of actor: Actor) throws {
        try engine.notifier.isPlayed ? gate.requireOpen() : requireWritable()
        try engine.notifier.setBadge(badge, of: actor)
    }

    /// The progress of a store that other processes write too; nil if only this process does.
    public var replication: ReplicationStatus? { (log as? ReplicatedLog)?.status }

    /// Applies everything that was acknowledged to anyone before the call, in a store that other processes write too.
    ///
    /// - Throws: ``StrataError`` if the end of the log cannot be confirmed.
    public func confirm() throws {
        try gate.requireOpen()
        try pipeline.catchUp()
    }

    /// Catches up with the process that gave out a token, if it was ahead of this one.
    ///
    /// - Throws: ``Refusal`` if that is impossible now; the token has not expired.
    func catchUp(with token: FeedToken?) throws {
        guard log.isShared, let token, token.store == storeID, token.position.offset > pipeline.publication.offset
        else { return }
        try catchUpWithOthers()
    }

    /// - Throws: ``Refusal`` if a store that other processes write too cannot be brought up to date now.
    private func catchUpWithOthers() throws {
        guard log.isShared else { return }
        do { try confirm() } catch let error as StrataError where error.code != .closed {
            throw Pipeline.unconfirmed(error)
        }
    }

    /// Returns true once the state is past `offset`; false if the store was closed or the task was canceled first.
    public func waitForChange(past offset: UInt64) async throws -> Bool {
        while !gate.isClosed, !Task.isCancelled {
            if engine.durableOffset(of: snapshot().trees) > offset { return true }
            if access == .readOnly, log is FollowerLog {
                await log.waitForEnd(past: offset)
                if !gate.isClosed { try refresh() }
            } else {
                await pipeline.publication.wait(past: offset)
                if pipeline.publication.isClosed { return false }
            }
        }
        return false
    }
}
