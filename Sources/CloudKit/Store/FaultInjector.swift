import Foundation
import StrataModel
import StrataStore
import StrataSystem
import Synchronization

/// The faults injected into one request.
struct InjectedFault: Sendable {
    /// The delay before the store gets the request.
    var delay: Duration?
    /// The error that the client gets instead of the store's response.
    var failure: CKError?
    /// True if the store's response is lost.
    var losesResponse = false
    /// The log entry about the injected fault.
    var note: String?
}

/// The faults that a store's console injects, and their targets (docs/console.md). All handles of a store share them.
final class FaultInjector: Sendable {
    private struct Known {
        weak var store: (any AnyObject & Sendable)?
        weak var faults: FaultInjector?
    }

    private static let known = Lock<[Known]>([])

    /// Returns the faults of a store, which exist as long as a handle of it does.
    static func of(_ store: Store) -> FaultInjector {
        known.withLock { known in
            let identity = store.sharedIdentity
            if let faults = known.first(where: { $0.store === identity })?.faults { return faults }
            known.removeAll { $0.store == nil || $0.faults == nil }
            let faults = FaultInjector()
            known.append(Known(store: identity, faults: faults))
            return faults
        }
    }

    /// The affected devices; nil is any.
    struct Target: Sendable, Hashable {
        var device: String?
        var user: String?

        func includes(_ actor: Actor) -> Bool {
            covers(Target(device: actor.device, user: actor.user))
        }

        /// Returns true if it includes everything that another target includes.
        func covers(_ other: Target) -> Bool {
            Self.isAnyOrSame(device, other.device) && Self.isAnyOrSame(user, other.user)
        }

        private static func isAnyOrSame(_ wanted: String?, _ name: String?) -> Bool {
            guard let wanted else { return true }
            return name.map { isSameText(wanted, $0) } ?? false
        }
    }

    /// An injected failure of upcoming requests.
    struct Fault: Sendable {
        var target: Target
        var kind: CloudStore.RequestKind?
        var scope: CloudStore.FaultScope
        var remaining: Int
        var code: CKError.Code
        var retryAfter: TimeInterval?

        func strikes(_ kind: CloudStore.RequestKind, of actor: Actor, _ scope: CloudStore.FaultScope) -> Bool {
            self.scope == scope && (self.kind == nil || self.kind == kind) && target.includes(actor)
        }
    }

    fileprivate struct State {
        var faults: [Fault] = []
        var lostResponses: [(target: Target, remaining: Int)] = []
        /// The networks by target; the last match applies.
        var networks: [(target: Target, network: CloudStore.Network)] = []
        /// The plans by target; the last match applies, and nil exempts its target.
        var plans: [(target: Target, plan: CloudStore.FaultPlan?)] = []
        /// The number of requests of each device since its plan began.
        var requests: [Actor: UInt64] = [:]
        /// The notifications that wait for a network.
        var waiters: [CheckedContinuation<Void, Never>] = []

        var isCalm: Bool { faults.isEmpty && lostResponses.isEmpty && networks.isEmpty && plans.isEmpty }

        func network(of actor: Actor) -> CloudStore.Network {
            networks.last { $0.target.includes(actor) }?.network ?? .normal
        }

        func plan(of actor: Actor) -> CloudStore.FaultPlan? { plans.last { $0.target.includes(actor) }?.plan ?? nil }
    }

    private let state = Lock(State())
    /// The clients of all handles of the store.
    private let clients = Lock(WeakList<Client>())
    /// True if no faults are set, which is almost always so. Read for each request.
    private let isCalm = Atomic(true)

    // MARK: Clients

    func join(_ client: Client) { clients.withLock { $0.add(client) } }

    /// Returns the clients of a user that are in use.
    func clients(of user: String) -> [Client] {
        clients.withLock { $0.objects }.filter { isSameText($0.actor.user, user) }
    }

    // MARK: Setting

    private func change(_ body: (inout State) -> Void) {
        let waiters = state.withLock { state in
            body(&state)
            isCalm.store(state.isCalm, ordering: .releasing)
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func add(_ fault: Fault) { change { $0.faults.append(fault) } }

    func addLostResponses(_ count: Int, _ target: Target) { change { $0.lostResponses.append((target, count)) } }

    func setNetwork(_ network: CloudStore.Network, _ target: Target) {
        change { state in
            state.networks.removeAll { target.covers($0.target) }
            // A normal network may be an exception to a setting for all devices.
            if network != .normal || !state.networks.isEmpty { state.networks.append((target, network)) }
            if state.networks.allSatisfy({ $0.network == .normal }) { state.networks = [] }
        }
    }

    func setPlan(_ plan: CloudStore.FaultPlan?, _ target: Target) {
        change { state in
            state.plans.removeAll { target.covers($0.target) }
            if plan != nil || !state.plans.isEmpty { state.plans.append((target, plan)) }
            if state.plans.allSatisfy({ $0.plan == nil }) { state.plans = [] }
            state.requests = state.requests.filter { !target.includes($0.key) }
        }
    }

    func clear() { change { $0 = State(waiters: $0.waiters) } }

    // MARK: Striking

    /// Returns the faults to inject into a device's request; nil for none.
    func inject(
        _ kind: CloudStore.RequestKind, of actor: Actor, allowsCellularAccess: Bool, carriesToken: Bool
    ) -> InjectedFault? {
        if isCalm.load(ordering: .acquiring) { return nil }
        var fault = InjectedFault()
        change { state in
            let number = state.requests[actor, default: 0] + 1
            if !state.plans.isEmpty { state.requests[actor] = number }
            fault = state.network(of: actor).fault(allowsCellularAccess: allowsCellularAccess)
            if fault.failure != nil { return }
            if let error = state.takeFault(kind, actor) {
                fault.failure = error
                fault.note = "\(kind.rawValue) failed with \(error.code), as set in the console"
                return
            }
            if kind.modifies, state.takeLostResponse(actor) {
                fault.losesResponse = true
                fault.note = "the response to \(kind.rawValue) was lost, as set in the console"
                return
            }
            if let plan = state.plan(of: actor) {
                let luck = Luck(plan.seed, actor, number)
                luck.apply(plan, to: &fault, kind, carriesToken: carriesToken)
            }
        }
        return fault
    }

    /// Returns the errors of the items that fail on their own, by index.
    func strikeItems(_ count: Int, _ kind: CloudStore.RequestKind, of actor: Actor) -> [Int: CKError] {
        if isCalm.load(ordering: .acquiring) || count == 0 { return [:] }
        var errors: [Int: CKError] = [:]
        change { state in
            while errors.count < count, let error = state.takeFault(kind, actor, .item) {
                errors[errors.count] = error
            }
            guard let plan = state.plan(of: actor) else { return }
            // For the current request, but independent of its request-level faults.
            let luck = Luck(~plan.seed, actor, state.requests[actor, default: 0])
            for index in 0..<count where luck.happens(plan.itemFailure) {
                if errors[index] == nil { errors[index] = luck.error(plan) }
            }
        }
        return errors
    }

    // MARK: Notifications

    /// Returns once the device can be notified, or no reader waits for it.
    ///
    /// - Parameters:
    ///   - isReachable: A condition besides the network. Code that changes its outcome calls ``wakeAll()``.
    ///   - isOver: Returns true if no reader waits.
    func awaitNetwork(
        of actor: Actor, and isReachable: @Sendable () -> Bool, unless isOver: @Sendable () -> Bool
    ) async {
        func isCut(_ state: State) -> Bool {
            !Task.isCancelled && !isOver() && (state.network(of: actor) == .unavailable || !isReachable())
        }
        await withTaskCancellationHandler {
            while state.withLock({ isCut($0) }) {
                await withCheckedContinuation { continuation in
                    let isWaiting = state.withLock { state in
                        guard isCut(state) else { return false }
                        state.waiters.append(continuation)
                        return true
                    }
                    if !isWaiting { continuation.resume() }
                }
            }
        } onCancel: {
            wakeAll()
        }
    }

    /// Returns true if a device has no network.
    func isCut(from actor: Actor) -> Bool {
        !isCalm.load(ordering: .acquiring) && state.withLock { $0.network(of: actor) == .unavailable }
    }

    /// Makes all waiters check their conditions again.
    func wakeAll() { change { _ in } }
}

extension FaultInjector.State {
    fileprivate mutating func takeFault(
        _ kind: CloudStore.RequestKind, _ actor: Actor, _ scope: CloudStore.FaultScope = .request
    ) -> CKError? {
        guard let place = faults.firstIndex(where: { $0.strikes(kind, of: actor, scope) }) else { return nil }
        let fault = faults[place]
        faults[place].remaining -= 1
        if faults[place].remaining == 0 { faults.remove(at: place) }
        return CKError(
            injected: fault.code, retryAfter: fault.retryAfter, message: "The console made this request fail.")
    }

    fileprivate mutating func takeLostResponse(_ actor: Actor) -> Bool {
        guard let place = lostResponses.firstIndex(where: { $0.target.includes(actor) }) else { return false }
        lostResponses[place].remaining -= 1
        if lostResponses[place].remaining == 0 { lostResponses.remove(at: place) }
        return true
    }
}

extension CloudStore.Network {
    fileprivate func fault(allowsCellularAccess: Bool) -> InjectedFault {
        switch self {
        case .normal: return InjectedFault()
        case .slow(let delay): return InjectedFault(delay: delay)
        case .cellularOnly:
            guard !allowsCellularAccess else { return InjectedFault() }
            return InjectedFault(
                failure: CKError(
                    .networkUnavailable,
                    message: "Only a cellular network is available, which the operation does not allow."))
        case .unavailable:
            return InjectedFault(failure: CKError(.networkUnavailable, message: "The device has no network."))
        }
    }
}

/// The random faults of one request: numbers derived from a seed, a device and the number of the request.
private struct Luck {
    private let random: SeededRandom

    init(_ seed: UInt64, _ actor: Actor, _ number: UInt64) {
        // FNV-1a, since the hashes of the standard library differ from run to run.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in "\(actor.user)\u{0}\(actor.device)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        let mixed = SeededRandom(seed: seed ^ hash).next()
        random = SeededRandom(seed: mixed &+ number &* 0xD134_2543_DE82_EF95)
    }

    func happens(_ probability: Double) -> Bool { fraction() < probability }

    private func fraction() -> Double { Double(random.next() >> 11) * 0x1p-53 }

    func apply(
        _ plan: CloudStore.FaultPlan, to fault: inout InjectedFault, _ kind: CloudStore.RequestKind,
        carriesToken: Bool
    ) {
        // All are drawn, whatever the earlier outcomes, so that one probability does not affect the other draws.
        let (isLate, fails) = (happens(plan.delay), happens(plan.requestFailure))
        let (isLost, isExpired) = (happens(plan.lostResponse), happens(plan.expiredToken))
        if isLate {
            let delay = plan.longestDelay * fraction()
            fault.delay = (fault.delay ?? .zero) + delay
        }
        if fails {
            fault.failure = error(plan)
        } else if carriesToken, isExpired {
            fault.failure = CKError(
                injected: .changeTokenExpired, retryAfter: nil, message: "The fault plan made the token expire.")
        } else if kind.modifies, isLost {
            fault.losesResponse = true
        }
        if let failure = fault.failure {
            fault.note = "\(kind.rawValue) failed with \(failure.code) by the fault plan of seed \(plan.seed)"
        } else if fault.losesResponse {
            fault.note = "the response to \(kind.rawValue) was lost by the fault plan of seed \(plan.seed)"
        }
    }

    func error(_ plan: CloudStore.FaultPlan) -> CKError {
        let place = Int(random.next(below: UInt64(max(1, plan.codes.count))))
        let code = plan.codes.isEmpty ? .serviceUnavailable : plan.codes[place]
        let saysWhen: [CKError.Code] = [.requestRateLimited, .zoneBusy, .serviceUnavailable]
        return CKError(
            injected: code, retryAfter: saysWhen.contains(code) ? plan.retryAfter : nil,
            message: "The fault plan of seed \(plan.seed) made this fail.")
    }
}

extension CKError {
    init(injected code: Code, retryAfter: TimeInterval?, message: String) {
        var userInfo: [String: Any] = [:]
        userInfo[CKErrorRetryAfterKey] = retryAfter.map { NSNumber(value: $0) }
        self.init(code, message: message, userInfo: userInfo)
    }
}
