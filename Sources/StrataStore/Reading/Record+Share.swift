import StrataModel
extension Record { package var shareState: ShareState? { get throws { nil } } }
