import StrataModel
import StrataRules
import StrataSystem

/// A request that waits to be decided.
struct Submission: Sendable {
    let request: Request
    let actor: Actor
    let operation: OperationInfo
    let byteCount: Int
    let reply: Reply<Answer>
    /// True if the request is judged at an end of a shared log that was confirmed after it came.
    var isConfirmed = false
    /// True if this process judges the request, even if others go to the home writer.
    var isKept = false
    /// True if another process sent the request.
    var isForwarded = false

    init(_ request: Request, as actor: Actor, _ operation: OperationInfo, reply: Reply<Answer>) {
        self.request = request
        self.actor = actor
        self.operation = operation
        self.reply = reply
        byteCount = request.weight
    }
}

extension Request {
    /// The approximate number of bytes that the request keeps in memory.
    fileprivate var weight: Int {
        guard case .modifyRecords(let body) = content else { return 1_024 }
        var bytes = 256 + body.deletes.count * 64
        // By index, because a loop over the saves would copy each.
        for index in body.saves.indices { bytes += 128 + body.saves[index].fieldWeight }
        return bytes
    }
}

extension ModifyRecordsRequest.Save {
    fileprivate var fieldWeight: Int {
        var bytes = 0
        for index in fields.indices { bytes += 32 + fields[index].chargedBytes }
        return bytes
    }
}

/// Waiting requests by quality of service: higher ones first, but no lane is skipped forever.
struct SubmissionQueue {
    /// After being skipped this many times, a lane is served first.
    private static let patience = 4

    private struct Lane {
        var waiting: [Submission] = []
        var start = 0
        var passedOver = 0

        var isEmpty: Bool { start == waiting.count }

        mutating func removeFirst() -> Submission {
            let first = waiting[start]
            start += 1
            if start == waiting.count {
                waiting.removeAll(keepingCapacity: true)
                start = 0
            } else if start >= 1_024, start * 2 >= waiting.count {
                waiting.removeFirst(start)
                start = 0
            }
            return first
        }
    }

    /// The lanes from the highest quality to the lowest.
    private var lanes: [Lane] = Array(repeating: Lane(), count: 4)
    private(set) var byteCount = 0
    private(set) var count = 0
    /// The number of requests that a batch may have: fewer while other processes always append first.
    private(set) var batchCount = usualBatchCount
    /// The number of batches in a row that were lost to other processes.
    private var lossCount = 0

    private static let usualBatchCount = 1 << 20
    /// The number of losses in a row after which batches are halved.
    private static let endurance = 3

    var isEmpty: Bool { count == 0 }

    private static func lane(_ quality: EnvelopeHeader.QualityOfService) -> Int {
        switch quality {
        case .userInteractive: 0
        case .userInitiated: 1
        case .background: 3
        default: 2
        }
    }

    mutating func append(_ submission: Submission) {
        lanes[Self.lane(submission.operation.qualityOfService)].waiting.append(submission)
        byteCount += submission.byteCount
        count += 1
    }

    /// Puts back requests to be decided again, before all that came later.
    mutating func putBack(_ submissions: [Submission]) {
        for submission in submissions.reversed() {
            let lane = Self.lane(submission.operation.qualityOfService)
            lanes[lane].waiting.insert(submission, at: lanes[lane].start)
            byteCount += submission.byteCount
            count += 1
        }
    }

    mutating func takeAll() -> [Submission] {
        var taken: [Submission] = []
        while !isEmpty { taken += take(byteCount: .max) }
        return taken
    }

    /// Notes that another process appended before a batch of `count` requests, which takes less time if it is smaller.
    mutating func noteLoss(ofBatch count: Int) {
        lossCount += 1
        if lossCount >= Self.endurance { batchCount = max(1, count / 2) }
    }

    /// Notes that a batch was appended.
    mutating func noteSuccess() {
        lossCount = 0
        batchCount = min(2 * batchCount, Self.usualBatchCount)
    }

    /// Takes requests of about `limit` bytes for a batch that has `present` already; at least one if any waits.
    mutating func take(byteCount limit: Int, present: Int = 0) -> [Submission] {
        var taken: [Submission] = []
        var bytes = 0
        let room = batchCount - present
        func order() -> [Int] {
            let hungry = lanes.indices.filter { !lanes[$0].isEmpty && lanes[$0].passedOver >= Self.patience }
            return hungry + lanes.indices.filter { !hungry.contains($0) }
        }
        for lane in order() {
            let takenBefore = taken.count
            while !lanes[lane].isEmpty, taken.isEmpty || bytes < limit && taken.count < room {
                let next = lanes[lane].removeFirst()
                bytes += next.byteCount
                taken.append(next)
                lanes[lane].passedOver = 0
            }
            if !lanes[lane].isEmpty, taken.count == takenBefore { lanes[lane].passedOver += 1 }
        }
        byteCount -= bytes
        count -= taken.count
        return taken
    }
}
