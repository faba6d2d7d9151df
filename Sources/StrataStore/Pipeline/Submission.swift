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
