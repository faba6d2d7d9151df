import Foundation
import StrataModel
import StrataRules
import StrataStore
import StrataViews

extension CloudStore {
    /// What the service's operators, a user in Settings, or bad luck can do to this store.
    ///
    /// ```swift
    /// try store.console.failNext(2, of: .modifyRecords, with: .requestRateLimited, retryAfter: 3, on: "phone")
    /// try store.console.purgeZone(notes, of: "anna")
    /// ```
    public var console: Console {
        Console(store: store, disturbances: disturbances, longLived: longLived, stagedAssets: stagedAssets)
    }

    /// Makes things go wrong, and does what only the service can do. Everything it does is kept in the log.
    ///
    /// Failures, lost answers, networks and fault plans hold for all handles that this process has of the store, until
    /// they are used up or ``clearFaults()``; they are not kept. Everything else is as lasting as a save.
    public struct Console: Sendable {
        let store: Store
        let disturbances: Disturbances
        let longLived: LongLivedOperations
        let stagedAssets: StagedAssets

        private func doing(_ body: () throws -> Void) throws {
            do { try body() } catch { throw CKError(engine: error) }
        }

        // MARK: Accounts and their data

        /// Ends a zone with all its records as a user does in Settings: feeds tell that it was purged, and fetches
        /// that the user deleted it, until it is made again.
        ///
        /// - Throws: `zoneNotFound` if there is none; `invalidArguments` for a default zone.
        public func purgeZone(_ zoneID: CKRecordZone.ID, of user: String) throws {
            try doing { try store.purgeZone(zoneID.model(for: UserRecord.name(of: user)), of: user) }
        }

        /// Makes all encrypted values of a user unreadable for good, and ends the custom zones that have any.
        public func resetEncryptedData(of user: String) throws {
            try doing { try store.resetEncryptedData(of: user) }
        }

        /// Says whether a user can use the account, now and when the store is opened again; `CKAccountChanged` is
        /// posted if that is new.
        public func setAccountStatus(_ status: CKAccountStatus, of user: String) throws {
            try doing {
                guard try store.account(of: user).status != status.engine else { return }
                try store.setAccountStatus(status.engine, of: user)
            }
            disturbances.stir()
            NotificationCenter.default.post(name: .CKAccountChanged, object: nil)
        }

        /// Limits how many bytes the records and assets in a user's private database may take; nil for no limit.
        /// What is there already stays.
        ///
        /// - Throws: `invalidArguments` for less than nothing.
        public func setQuota(bytes: Int?, of user: String) throws {
            guard bytes ?? 1 > 0 else {
                throw CKError(
                    .invalidArguments, message: "A quota is a number of bytes above 0, or nil; this is \(bytes ?? 0).")
            }
            try doing { try store.setQuota(bytes: bytes.map { UInt64($0) } ?? 0, of: user) }
        }

        /// How many bytes the records and assets in a user's private database take.
        public func usedBytes(of user: String) throws -> Int {
            do { return Int(clamping: try store.usage(of: user)) } catch { throw CKError(engine: error) }
        }

        /// Takes away for good what records hold and ever held: from the log, from the files of assets that no other
        /// record has, and from operations that are kept to be done again. Clients are told of a deletion.
        ///
        /// ```swift
        /// try store.console.erase([card], in: .private, of: "anna", reason: "asked for on 4 May")
        /// ```
        /// It can be used for records that were deleted long ago, and for those of zones that are gone. What clients
        /// have fetched before is theirs. The past does not show these records any more.
        ///
        /// - Parameters:
        ///   - recordIDs: Of records that are there, or were.
        ///   - scope: The public database, or that of a user.
        ///   - user: Whose private database; nil for the public one.
        ///   - reason: Kept in the log, at most 4,096 bytes.
        /// - Throws: `unknownItem` for a record of which nothing is known, `zoneNotFound`; `referenceViolation` if a
        ///   record that is not named would lose its parent. Nothing is erased then.
        public func erase(
            _ recordIDs: [CKRecord.ID], in scope: CKDatabase.Scope, of user: String? = nil, reason: String
        ) throws {
            guard scope == .public && user == nil || scope == .private && user?.isEmpty == false else {
                throw CKError(
                    .invalidArguments, message: "Records are erased from the public database, or from a user's private."
                )
            }
            let owner = user ?? ""
            try doing {
                let me = UserRecord.name(of: owner)
                let ids = recordIDs.map { $0.model(for: me) }
                let database = scope == .public ? DatabaseID(.public) : DatabaseID(.private, owner: owner)
                try store.erase(ids, in: database, reason: reason) {
                    // Only then: an erasure that is refused must not take a client's save with it.
                    try longLived.removeErased(in: store, endsUnreadable: true)
                }
                stagedAssets.removeRetired()
            }
        }

        /// Has clients begin anew: change tokens of earlier offsets are `changeTokenExpired` from now on.
        ///
        /// - Parameter offset: Tokens of this very offset stay valid. `store.offset + 1`, the highest that is accepted,
        ///   expires every token that there is.
        public func expireTokens(before offset: UInt64) throws {
            try doing { try store.expireTokens(before: offset) }
        }

        // MARK: History

        /// Lets go of everything that was done in front of an offset, and keeps what it came to: records, zones,
        /// subscriptions and all else are as they were. Change tokens from before are `changeTokenExpired` from now
        /// on.
        ///
        /// It returns when it is done; others read and save meanwhile.
        ///
        /// ```swift
        /// let done = try store.console.compact(before: store.offset)
        /// print(done.segmentCount, done.freedBytes)
        /// ```
        ///
        /// - Parameter offset: One of the log; it stays itself.
        /// - Throws: `invalidArguments` for one behind the end, one that has been let go already, one behind the
        ///   beginning of a long-lived operation that has not ended, and for a store in memory.
        @discardableResult
        public func compact(before offset: UInt64) throws -> Compaction {
            do {
                let done = try store.compact(before: offset)
                try store.noteConsole(ConsoleNote("let go of the history before \(offset)"))
                return Compaction(done)
            } catch { throw CKError(engine: error) }
        }

        /// What ``compact(before:)`` would do; nothing is changed.
        ///
        /// ```swift
        /// for zone in try store.console.compactionPlan(before: 1_000).zones { print(zone.zoneName, zone.changeCount) }
        /// ```
        public func compactionPlan(before offset: UInt64) throws -> CompactionPlan {
            do { return CompactionPlan(try store.compactionPlan(before: offset)) } catch {
                throw CKError(engine: error)
            }
        }

        // MARK: Bad luck

        /// Has requests fail that are still to come.
        ///
        /// - Parameters:
        ///   - count: How many requests, or items of requests.
        ///   - kind: Of which kind; nil for any.
        ///   - code: What they fail with.
        ///   - retryAfter: When the error says to try again, in seconds.
        ///   - scope: Whether requests fail, or single items of them.
        ///   - device: On which device; nil for all.
        ///   - user: Whose device; nil for everybody's.
        /// - Throws: `invalidArguments` for a count below 1, a time that is none, and `partialFailure`, which is what
        ///   comes of items that fail.
        public func failNext(
            _ count: Int = 1, of kind: RequestKind? = nil, with code: CKError.Code, retryAfter: TimeInterval? = nil,
            scope: FaultScope = .request, on device: String? = nil, user: String? = nil
        ) throws {
            try requireCount(count)
            try requireError([code], retryAfter)
            let target = Disturbances.Target(device: device, user: user)
            try note("fail the next \(count) (\(scope)) of \(kind?.rawValue ?? "any kind") with \(code)", target)
            disturbances.add(
                Disturbances.Fault(
                    target: target, kind: kind, scope: scope, remaining: count, code: code, retryAfter: retryAfter))
        }

        /// Has the store apply the next requests that change something, and the client get `serverResponseLost`.
        public func loseNextResponse(_ count: Int = 1, on device: String? = nil, user: String? = nil) throws {
            try requireCount(count)
            let target = Disturbances.Target(device: device, user: user)
            try note("lose the next \(count) answers", target)
            disturbances.addLostResponses(count, target)
        }

        /// Says what lies between a device and the store; nil for all devices.
        public func setNetwork(_ network: Network, on device: String? = nil, user: String? = nil) throws {
            if case .slow(let delay) = network { try requireDelay(delay) }
            let target = Disturbances.Target(device: device, user: user)
            try note("set the network to \(network)", target)
            disturbances.setNetwork(network, target)
        }

        /// Has requests be unlucky by a plan, from its beginning; nil ends it.
        ///
        /// - Throws: `invalidArguments` for a probability that is none.
        public func setFaultPlan(_ plan: FaultPlan?, on device: String? = nil, user: String? = nil) throws {
            if let plan {
                let chances = [plan.requestFailure, plan.itemFailure, plan.lostResponse, plan.expiredToken, plan.delay]
                guard chances.allSatisfy({ (0...1).contains($0) }) else {
                    throw CKError(.invalidArguments, message: "Probabilities are from 0 to 1: \(plan)")
                }
                try requireDelay(plan.longestDelay)
                try requireError(plan.codes, plan.retryAfter)
            }
            let target = Disturbances.Target(device: device, user: user)
            try note(plan.map { "follow \($0)" } ?? "end the fault plan", target)
            disturbances.setPlan(plan, target)
        }

        /// Ends everything that was to go wrong: failures, lost answers, networks and fault plans.
        public func clearFaults() throws {
            try note("let everything go well again", .init())
            disturbances.clear()
        }

        private func requireCount(_ count: Int) throws {
            guard count > 0 else { throw CKError(.invalidArguments, message: "The count is \(count), below 1.") }
        }

        private func requireDelay(_ delay: Duration) throws {
            guard delay >= .zero, delay <= .seconds(86_400) else {
                throw CKError(.invalidArguments, message: "A delay is from nothing to a day, not \(delay).")
            }
        }

        private func requireError(_ codes: [CKError.Code], _ retryAfter: TimeInterval?) throws {
            guard retryAfter.map({ $0.isFinite && $0 >= 0 }) ?? true else {
                throw CKError(.invalidArguments, message: "retryAfter is a number of seconds from 0 on.")
            }
            guard !codes.contains(.partialFailure) else {
                throw CKError(
                    .invalidArguments,
                    message: "partialFailure has items that failed: have items fail, with scope .item.")
            }
        }

        private func note(_ text: String, _ target: Disturbances.Target) throws {
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
