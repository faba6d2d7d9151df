import StrataModel

/// The error of the engine that `body` throws; nil if it throws none, or another kind.
func thrownError(_ body: () throws -> Void) -> StrataError? {
    do { try body() } catch { return error as? StrataError }
    return nil
}
