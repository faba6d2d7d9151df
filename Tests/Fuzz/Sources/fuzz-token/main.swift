import FuzzedInputs
import FuzzDriver

fuzz { _ = FuzzBodies.token($0) }
