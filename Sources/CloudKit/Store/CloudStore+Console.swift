import Foundation
import StrataModel
import StrataRules
import StrataStore
import StrataViews

extension CloudStore {
    /// The actions that the service's operators, a user in Settings, or bad luck can take on this store.
    ///
    /// ```swift
    /// try store.console.failNext(2, of: .modifyRecords, with: .requestRateLimited, retryAfter: 3, on: "phone")
    /// try store.console.purgeZone(notes, of: "anna")
    /// ```
    public var console: Console {
        Console(opened: self)
    }

    /// Injects faults and performs actions that only the service can perform. Everything it does is recorded in the
    /// log.
    ///
    /// Failures, lost responses, networks and fault plans apply to all handles that this process has of the store. They
    /// last until they are used up or ``clearFaults()`` is called, and are not persisted. All other actions are as
    /// lasting as a save.
    public struct Console: Sendable {
        let opened: CloudStore
        var store: Store { opened.store }

        func doing<Value>(_ body: () throws -> Value) throws -> Value {
            do { return try body() } catch { throw CKError(engine: error) }
        }

        // MARK: Accounts and their data

        /// Deletes a zone with all its records as a user does in Settings. Until the zone is created again, feeds
        /// report it as purged, and fetches report that the user deleted it.
        ///
        /// - Throws: `zoneNotFound` if there is no such zone; `invalidArguments` for a default zone.
        public func purgeZone(_ zoneID: CKRecordZone.ID, of user: String) throws {
            try doing { try store.purgeZone(zoneID.model(for: store.newest.recordName(of: user)), of: user) }
        }

        /// Makes all encrypted values of a user unreadable for good, and deletes the custom zones that contain any.
        public func resetEncryptedData(of user: String) throws {
            try doing { try store.resetEncryptedData(of: user) }
        }

        /// Sets the account status of a user, which persists when the store is reopened. If the status changed, posts
        /// `CKAccountChanged` for each container of the user, with the container as the object.
        public func setAccountStatus(_ status: CKAccountStatus, of user: String) throws {
            try doing {
                guard try store.account(of: user).status != status.engine else { return }
                try store.setAccountStatus(status.engine, of: user)
                opened.faults.wakeAll()
                for client in opened.faults.clients(of: user) {
                    NotificationCenter.default.post(name: .CKAccountChanged, object: client.container)
                }
            }
        }

        /// Limits the bytes that the records and assets in a user's private database may take; nil for no limit.
        /// Existing data stays.
        ///
        /// - Throws: `invalidArguments` for a quota below 1.
        public func setQuota(bytes: Int?, of user: String) throws {
            guard bytes ?? 1 > 0 else {
                throw CKError(
                    .invalidArguments, message: "A quota must be above 0 bytes, or nil; this one is \(bytes ?? 0).")
            }
            try doing { try store.setQuota(bytes: bytes.map { UInt64($0) } ?? 0, of: user) }
        }

        /// Returns the number of bytes that the records and assets in a user's private database take.
        public func usedBytes(of user: String) throws -> Int {
            try doing { Int(clamping: try store.usage(of: user)) }
        }

        /// Erases for good the values that records have or ever had: from the log, from the files of assets that no
        /// other record has, and from stored long-lived operations. Clients see the records as deleted.
        ///
        /// ```swift
        /// try store.console.erase([card], in: .private, of: "anna", reason: "asked for on 4 May")
        /// ```
        /// Records that were deleted long ago can be erased too, also those of deleted zones. Data that clients have
        /// fetched before stays with them. Past states of the store no longer show these records.
        ///
        /// - Parameters:
        ///   - recordIDs: The IDs of records that exist or existed.
        ///   - scope: The public database or a user's private one.
        ///   - user: The owner of the private database; nil for the public database.
        ///   - reason: A text for the log, at most 4,096 bytes.
        /// - Throws: `unknownItem` for an unknown record, `zoneNotFound`; `referenceViolation` if a record that is not
        ///   listed would lose its parent. Nothing is erased then.
        public func erase(
            _ recordIDs: [CKRecord.ID], in scope: CKDatabase.Scope, of user: String? = nil, reason: String
        ) throws {
            guard scope == .public && user == nil || scope == .private && user?.isEmpty == false else {
                throw CKError(
                    .invalidArguments,
                    message: "Records can only be erased from the public database or a user's private one."
                )
            }
            let owner = user ?? ""
            try doing {
                let me = try store.newest.recordName(of: owner)
                let ids = recordIDs.map { $0.model(for: me) }
                let database = scope == .public ? DatabaseID(.public) : DatabaseID(.private, owner: owner)
                try store.erase(ids, in: database, reason: reason) {
                    // Only then: a rejected erasure must not remove a client's save.
                    try opened.longLived.removeErased(in: store, endsUnreadable: true)
                }
                opened.stagedAssets.removeRetired()
            }
        }

        /// Makes clients start over: change tokens of earlier offsets are `changeTokenExpired` from now on.
        ///
        /// - Parameter offset: The first offset whose tokens stay valid. `store.offset + 1`, the highest accepted
        ///   value, expires all existing tokens.
        public func expireTokens(before offset: UInt64) throws {
            try doing { try store.expireTokens(before: offset) }
        }

        // MARK: History

        /// Compacts the history before an offset into its result: records, zones, subscriptions and all other state
        /// stay unchanged. Change tokens from before the last compacted commit are `changeTokenExpired` from now on.
        ///
        /// The call returns when the compaction is complete; other callers can read and save while it runs.
        ///
        /// ```swift
        /// let done = try store.console.compact(before: store.offset)
        /// print(done.segmentCount, done.freedBytes)
        /// ```
        ///
        /// - Parameter offset: The offset of a commit in the log. That commit is kept.
        /// - Throws: `invalidArguments` for an offset after the end, for one that has been compacted already, for one
        ///   after the beginning of a long-lived operation that has not finished, and for a store in memory.
        @discardableResult
        public func compact(before offset: UInt64) throws -> Compaction {
            try doing {
                let done = try store.compact(before: offset)
                try store.noteConsole(ConsoleNote("compact the history before \(offset)"))
                return Compaction(done)
            }
        }

        /// Returns what ``compact(before:)`` would do, without changing anything.
        ///
        /// ```swift
        /// for zone in try store.console.compactionPlan(before: 1_000).zones { print(zone.zoneName, zone.changeCount) }
        /// ```
        public func compactionPlan(before offset: UInt64) throws -> CompactionPlan {
            try doing { CompactionPlan(try store.compactionPlan(before: offset)) }
        }

        // MARK: Failures

        /// Makes upcoming requests fail.
        ///
        /// - Parameters:
        ///   - count: The number of requests, or of items of requests, that fail.
        ///   - kind: The kind of requests; nil for any.
        ///   - code: The code of the error.
        ///   - retryAfter: The seconds after which the error tells the client to retry.
        ///   - scope: `request` to fail whole requests, `item` to fail single items of them.
        ///   - device: The device that makes the requests; nil for all.
        ///   - user: The user of the device; nil for all users.
        /// - Throws: `invalidArguments` for a count below 1, for an invalid time, and for `partialFailure`, which
        ///   results from failing items.
        public func failNext(
            _ count: Int = 1, of kind: RequestKind? = nil, with code: CKError.Code, retryAfter: TimeInterval? = nil,
            scope: FaultScope = .request, on device: String? = nil, user: String? = nil
        ) throws {
            try requireCount(count)
            try requireError([code], retryAfter)
            let target = FaultInjector.Target(device: device, user: user)
            try note("fail the next \(count) (\(scope)) of \(kind?.rawValue ?? "any kind") with \(code)", target)
            opened.faults.add(
                FaultInjector.Fault(
                    target: target, kind: kind, scope: scope, remaining: count, code: code, retryAfter: retryAfter))
        }

        /// Makes the store apply the next modifying requests, while the client gets `serverResponseLost`.
        public func loseNextResponse(_ count: Int = 1, on device: String? = nil, user: String? = nil) throws {
            try requireCount(count)
            let target = FaultInjector.Target(device: device, user: user)
            try note("lose the next \(count) responses", target)
            opened.faults.addLostResponses(count, target)
        }

        /// Sets the network between a device and the store; nil for all devices.
        public func setNetwork(_ network: Network, on device: String? = nil, user: String? = nil) throws {
            if case .slow(let delay) = network { try requireDelay(delay) }
            let target = FaultInjector.Target(device: device, user: user)
            try note("set the network to \(network)", target)
            opened.faults.setNetwork(network, target)
        }

        /// Starts a fault plan from its beginning; nil ends the current plan.
        ///
        /// - Throws: `invalidArguments` for a probability outside 0 to 1, and for an invalid time, delay or code.
        public func setFaultPlan(_ plan: FaultPlan?, on device: String? = nil, user: String? = nil) throws {
            if let plan {
                let chances = [plan.requestFailure, plan.itemFailure, plan.lostResponse, plan.expiredToken, plan.delay]
                guard chances.allSatisfy({ (0...1).contains($0) }) else {
                    throw CKError(.invalidArguments, message: "Probabilities must be from 0 to 1: \(plan)")
                }
                try requireDelay(plan.longestDelay)
                try requireError(plan.codes, plan.retryAfter)
            }
            let target = FaultInjector.Target(device: device, user: user)
            try note(plan.map { "follow \($0)" } ?? "end the fault plan", target)
            opened.faults.setPlan(plan, target)
        }

        /// Removes all injected faults: failures, lost responses, networks and fault plans.
        public func clearFaults() throws {
            try note("clear all faults", .init())
            opened.faults.clear()
        }

        private func requireCount(_ count: Int) throws {
            guard count > 0 else {
                throw CKError(.invalidArguments, message: "The count must be at least 1, not \(count).")
            }
        }

        private func requireDelay(_ delay: Duration) throws {
            guard delay >= .zero, delay <= .seconds(86_400) else {
                throw CKError(.invalidArguments, message: "A delay must be from zero to one day, not \(delay).")
            }
        }

        private func requireError(_ codes: [CKError.Code], _ retryAfter: TimeInterval?) throws {
            guard retryAfter.map({ $0.isFinite && $0 >= 0 }) ?? true else {
                throw CKError(
                    .invalidArguments, message: "retryAfter must be a number of seconds that is not negative.")
            }
            guard !codes.contains(.partialFailure) else {
                throw CKError(
                    .invalidArguments,
                    message: "partialFailure needs failed items: inject errors with scope .item instead.")
            }
        }

        private func note(_ text: String, _ target: FaultInjector.Target) throws {
            try doing {
                try store.noteConsole(ConsoleNote(text, user: target.user ?? "", device: target.device ?? ""))
            }
        }
    }
}

extension CKAccountStatus {
    var engine: AccountStatus { AccountStatus(rawValue: UInt8(rawValue)) ?? .couldNotDetermine }

    init(_ status: AccountStatus) { self = CKAccountStatus(rawValue: Int(status.rawValue)) ?? .couldNotDetermine }
}
