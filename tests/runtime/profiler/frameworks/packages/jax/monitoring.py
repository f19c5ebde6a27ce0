listeners = []


def register_event_duration_secs_listener(listener):
    listeners.append(listener)
