"""What the children of test_processes.py do: a new interpreter must be able to import it."""

import os
import signal
import time

import adjoint as ad


def write_and_answer(requests, answers):
    """Writes 4 into a tensor, and answers with facts about what else has come."""
    requests.get()[:] = 4
    parameter, turned, leaf, twins = requests.get()
    answers.put((type(parameter).__name__, parameter.requires_grad, turned.stride(), leaf.requires_grad, leaf.is_leaf))
    twins[0].fill_(2)
    answers.put(ad.full((3,), float(twins[1].sum())))


def put_and_end(queue, killed):
    queue.put(ad.arange(1000.0))
    if killed:
        queue.close()
        queue.join_thread()  # the message is on its way
        os.kill(os.getpid(), signal.SIGKILL)


def hold(queue, ready):
    """Maps what it gets, and waits to be killed."""
    x = queue.get()
    ready.send(float(x[0]))
    time.sleep(60)


def wait(i):
    """Waits to be ended."""
    time.sleep(60)


def square(x):
    return x * x


def with_history(i):
    return ad.ones(2, requires_grad=True) * i


def sum_of_large(x):
    return float((x @ x).sum()), ad.get_num_threads()


def raise_in_second(i, message):
    if i == 1:
        raise ValueError(message)
    time.sleep(60)


def killed_in_first(i):
    if i == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def add_own_number(i, total):
    total[i] += i


def orphan_maker(i, ready):
    """Starts a process that lives until its parent dies, and says its id."""
    import adjoint.multiprocessing as mp

    context = mp.start_processes(killed_after_a_minute, nprocs=1, join=False, start_method="fork")
    ready.put(context.pids()[0])
    os.kill(os.getpid(), signal.SIGKILL)


def killed_after_a_minute(i):
    time.sleep(60)
