import StrataModel

/// The code of the error that `body` throws; nil if it throws none, or another kind of error.
func thrownCode(_ body: () throws -> Void) -> StrataError.Code? {
    do { try body() } catch { return (error as? StrataError)?.code }
    return nil
}
