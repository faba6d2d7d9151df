import StrataModel
import StrataReplication

/// Returns the code of the error that a call fails with.
func code(_ body: () throws -> Void) -> StrataError.Code? {
    do { try body() } catch { return (error as? StrataError)?.code }
    return nil
}

extension SequencerAnswer {
    var number: UInt64? { if case .accepted(let number) = self { number } else { nil } }
    var isTaken: Bool { if case .taken = self { true } else { false } }
    var doubt: StrataError.Code? { if case .unknown(let error) = self { error.code } else { nil } }
    var isUnknown: Bool { if case .unknown = self { true } else { false } }
    var refusal: StrataError? { if case .refused(let error) = self { error } else { nil } }
}
