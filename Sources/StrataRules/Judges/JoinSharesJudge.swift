import StrataModel
import StrataViews

/// Judges requests to accept shares and to ask for access to them.
struct JoinSharesJudge: RequestJudge {
    private let judging: Judging
    private let body: JoinSharesRequest

    init(_ judging: Judging, _ body: JoinSharesRequest) {
        self.judging = judging
        self.body = body
    }

    consuming func decide() throws -> Decision {
        let missing = Refusal(.unknownItem, "No share has this URL.")
        return Decision(
            .nothing, RequestResult(saves: body.tokens.map { _ in .failure(missing) }), trace: judging.newTrace)
    }
}
